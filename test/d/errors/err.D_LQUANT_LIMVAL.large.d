/* lquantize(): limval, large. */

BEGIN { x = 1; @ = lquantize(x, 1, 5000000000, 1); }
