/* lquantize: a step of 0. */

BEGIN { @a = lquantize(1, 0, 10, 0); }
