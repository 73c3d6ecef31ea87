/* Keys are a fixed number. */

int a[int, ...];
BEGIN {  }
