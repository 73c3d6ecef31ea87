/* A value without a conversion. */

BEGIN { printf("%d\n", 1, 2); }
