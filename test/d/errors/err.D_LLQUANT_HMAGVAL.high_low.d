/* llquantize(): high low. */

BEGIN { x = 1; y = 2; @ = llquantize(x, 10, 3, 3, 10); }
