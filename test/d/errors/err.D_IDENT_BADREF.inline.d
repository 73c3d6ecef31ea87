/* An inline with parameters, without them. */

inline int f[int a] = a;
BEGIN { trace(f); }
