/* llquantize(): factor variable. */

BEGIN { x = 1; y = 2; @ = llquantize(x, y, 1, 3, 10); }
