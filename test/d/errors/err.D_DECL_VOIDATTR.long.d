/* A long void. */

long void x;
BEGIN {  }
