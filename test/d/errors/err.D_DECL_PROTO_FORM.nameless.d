/* A parameter of an inline without a name. */

inline int f[int] = 3;
BEGIN {  }
