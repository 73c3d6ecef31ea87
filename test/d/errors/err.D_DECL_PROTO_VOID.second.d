/* void beside another key. */

int a[int, void];
BEGIN {  }
