/* llquantize(): factor one. */

BEGIN { x = 1; y = 2; @ = llquantize(x, 1, 1, 3, 10); }
