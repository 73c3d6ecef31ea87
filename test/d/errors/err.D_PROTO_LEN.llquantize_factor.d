/* llquantize(): factor none. */

BEGIN { x = 1; y = 2; @ = llquantize(x); }
