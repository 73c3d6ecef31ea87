/* A type that is an associative array. */

typedef int a[int];
BEGIN {  }
