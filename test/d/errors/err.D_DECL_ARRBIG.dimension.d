/* An array too large. */

int a[100000000];
BEGIN {  }
