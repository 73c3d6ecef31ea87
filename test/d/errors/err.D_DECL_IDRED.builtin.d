/* A built-in variable is not declared. */

int timestamp;
BEGIN {  }
