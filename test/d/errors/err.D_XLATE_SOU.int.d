/* A translator makes structures. */

translator int < int n > { a = n; };
BEGIN {  }
