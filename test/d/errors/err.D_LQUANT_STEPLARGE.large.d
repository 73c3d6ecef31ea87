/* lquantize(): steplarge, large. */

BEGIN { x = 1; @ = lquantize(x, 1, 10, 20); }
