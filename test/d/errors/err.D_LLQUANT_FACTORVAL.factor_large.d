/* llquantize(): factor large. */

BEGIN { x = 1; y = 2; @ = llquantize(x, 70000, 1, 3, 10); }
