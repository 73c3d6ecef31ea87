/* What does not fit is cut, and neighbours stay. */
#pragma D option quiet

struct s { unsigned a:4; unsigned b:4; };
struct s v;
BEGIN { v.b = 9; v.a = 0x1f; printf("%d %d\n", v.a, v.b); exit(0); }

/* expect: 15 9 */
