/* lquantize(): steptype, variable. */

BEGIN { x = 1; @ = lquantize(x, 1, 10, x); }
