/* An inline in an inline. */
#pragma D option quiet

inline int a = 3;
inline int b = a * a;
BEGIN { printf("%d\n", b + a); exit(0); }

/* expect: 12 */
