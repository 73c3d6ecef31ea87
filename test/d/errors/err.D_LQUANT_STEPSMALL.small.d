/* lquantize(): stepsmall, small. */

BEGIN { x = 1; @ = lquantize(x, 0, 1000000, 1); }
