/* llquantize(): fewer steps than the factor, which do not divide it. */

BEGIN { @ = llquantize(1, 10, 1, 3, 3); }
