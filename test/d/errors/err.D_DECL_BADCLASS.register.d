/* Another one. */

register int x;
BEGIN {  }
