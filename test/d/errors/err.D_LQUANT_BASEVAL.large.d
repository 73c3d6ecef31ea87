/* lquantize(): baseval, large. */

BEGIN { x = 1; @ = lquantize(x, 5000000000, 5000000001, 1); }
