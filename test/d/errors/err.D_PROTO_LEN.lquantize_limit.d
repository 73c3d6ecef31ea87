/* lquantize(): limtype, none. */

BEGIN { x = 1; @ = lquantize(x, 1); }
