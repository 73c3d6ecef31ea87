/* lquantize: a negative step. */

BEGIN { @a = lquantize(1, 0, 10, -2); }
