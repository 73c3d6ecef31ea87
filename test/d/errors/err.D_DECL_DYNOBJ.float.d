/* There are no variables of floating point. */

double x;
BEGIN {  }
