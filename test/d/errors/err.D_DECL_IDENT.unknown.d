/* A type that there is not. */

extern nothing x;
BEGIN {  }
