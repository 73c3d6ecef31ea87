/* The address of a sum. */

BEGIN { y = 1; x = &(y + 1); }
