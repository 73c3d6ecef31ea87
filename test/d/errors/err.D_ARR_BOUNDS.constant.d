/* A constant index beyond the end. */

int a[4];
BEGIN { trace(a[4]); }
