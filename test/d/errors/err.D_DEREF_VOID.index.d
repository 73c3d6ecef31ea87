/* An element of a void *. */

BEGIN { x = (void *)0; y = x[0]; }
