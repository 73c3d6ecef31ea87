/* lquantize(): limtype, text. */

BEGIN { x = 1; @ = lquantize(x, 1, "x", 1); }
