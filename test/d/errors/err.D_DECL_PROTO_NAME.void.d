/* void with a name. */

int a[void x];
BEGIN {  }
