/* void before another key. */

int a[void, int];
BEGIN {  }
