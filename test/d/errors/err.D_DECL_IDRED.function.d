/* The name of a function. */

inline int strlen = 7;
BEGIN {  }
