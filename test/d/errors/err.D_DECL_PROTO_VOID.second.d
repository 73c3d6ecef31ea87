/* void beside another parameter. */

int f(int, void);
BEGIN {  }
