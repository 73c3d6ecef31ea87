/* lquantize: no room between base and limit. */

BEGIN { @a = lquantize(1, 5, 5, -1); }
