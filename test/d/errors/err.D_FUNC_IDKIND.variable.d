/* A variable is called. */

BEGIN { x = 1; x(2); }
