/* A typedef without a name. */

int;
BEGIN {  }
