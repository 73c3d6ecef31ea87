/* A conversion without a value. */

BEGIN { printf("%d %d\n", 1); }
