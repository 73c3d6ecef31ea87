/* There are no floating-point numbers. */

BEGIN { printf("%f", 3); }
