/* A conversion that there is not. */

BEGIN { printf("%q", 1); }
