/* A * with a text. */

BEGIN { printf("%*d", "a", 1); }
