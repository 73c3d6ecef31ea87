/* A short long. */

short long x;
BEGIN {  }
