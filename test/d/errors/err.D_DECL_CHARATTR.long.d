/* A long char. */

long char x;
BEGIN {  }
