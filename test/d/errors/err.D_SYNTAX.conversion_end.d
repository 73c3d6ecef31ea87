/* A format that ends too soon. */

BEGIN { printf("%", 1); }
