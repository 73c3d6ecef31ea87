/* A key that is an array. */

int a[int[3]];
BEGIN {  }
