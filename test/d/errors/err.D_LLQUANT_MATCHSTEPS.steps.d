/* Another steps than before. */

BEGIN { @a = llquantize(1, 10, 1, 3, 10); @a = llquantize(1, 10, 1, 3, 20); }
