/* lquantize: a base that is no constant. */

BEGIN { x = 1; @a = lquantize(1, x, 10); }
