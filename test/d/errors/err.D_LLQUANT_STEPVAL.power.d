/* llquantize(): steps that do not divide the lowest range. */

BEGIN { @ = llquantize(1, 10, 2, 6, 80); }
