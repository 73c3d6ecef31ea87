/* A type that there is not. */

typedef nothing x;
BEGIN {  }
