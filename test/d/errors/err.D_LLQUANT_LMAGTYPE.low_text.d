/* llquantize(): low text. */

BEGIN { x = 1; y = 2; @ = llquantize(x, 10, "x", 3, 10); }
