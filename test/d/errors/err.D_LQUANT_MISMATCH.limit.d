/* lquantize: a limit below the base. */

BEGIN { @a = lquantize(1, 10, 5); }
