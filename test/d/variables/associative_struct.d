/* Structures in an associative array. */
#pragma D option quiet

struct s { int a; int b; };
struct s v;
struct s w[int];
BEGIN { v.a = 1; v.b = 2; w[7] = v; v.a = 9; printf("%d %d %d\n", w[7].a, w[7].b, w[8].a); exit(0); }

/* expect: 1 2 0 */
