/* llquantize(): high large. */

BEGIN { x = 1; y = 2; @ = llquantize(x, 10, 1, 40, 10); }
