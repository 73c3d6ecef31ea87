/* Bit-fields with a sign and without. */
#pragma D option quiet

struct s { int a:3; unsigned b:3; int c:10; };
struct s v;
BEGIN { v.a = 5; v.b = 5; v.c = -7; printf("%d %d %d %d\n", v.a, v.b, v.c, sizeof (struct s)); exit(0); }

/* expect: -3 5 -7 4 */
