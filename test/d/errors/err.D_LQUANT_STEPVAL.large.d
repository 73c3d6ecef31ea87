/* lquantize: a step of more than 16 bits. */

BEGIN { @ = lquantize(1, 1, 100000, 100000); }
