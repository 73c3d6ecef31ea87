/* An inline of the name of a variable. */

int x;
inline int x = 3;
BEGIN {  }
