/* A pointer taken from a number. */

int n;
BEGIN { n -= alloca(10); }
