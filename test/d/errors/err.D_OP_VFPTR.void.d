/* A variable of nothing. */

BEGIN { x = (void)1; }
