/* Any keys. */

int a[...];
BEGIN {  }
