/* An array of keys as a parameter. */

int f(int a[int]);
BEGIN {  }
