/* A string is no pointer. */

BEGIN { x = "a"; y = *x; }
