/* The remainder by zero. */

BEGIN { x = 1 % 0; }
