/* -> and assignment through a pointer. */
#pragma D option quiet

struct s { int a; char b; };
struct s v;
BEGIN { p = &v; p->a = 7; p->b = 'x'; printf("%d %c %d\n", v.a, v.b, p->a + 1); exit(0); }

/* expect: 7 x 8 */
