/* llquantize(): from 1 on, more steps than there are whole numbers. */

BEGIN { @ = llquantize(1, 10, 0, 3, 30); }
