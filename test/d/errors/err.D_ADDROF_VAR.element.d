/* The address of an element of an associative array. */

BEGIN { a[1] = 1; y = &a[1]; }
