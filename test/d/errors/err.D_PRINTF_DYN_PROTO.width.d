/* A * without a value. */

BEGIN { printf("%*d"); }
