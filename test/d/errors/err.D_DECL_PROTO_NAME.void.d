/* void with a name. */

int f(void x);
BEGIN {  }
