/* llquantize(): steps uneven. */

BEGIN { x = 1; y = 2; @ = llquantize(x, 10, 1, 3, 15); }
