/* llquantize(): steps none. */

BEGIN { x = 1; y = 2; @ = llquantize(x, 10, 1, 3); }
