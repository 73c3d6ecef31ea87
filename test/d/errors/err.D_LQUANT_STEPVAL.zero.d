/* lquantize(): stepval, zero. */

BEGIN { x = 1; @ = lquantize(x, 0, 10, 0); }
