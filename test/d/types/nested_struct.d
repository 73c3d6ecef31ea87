/* Structures in structures. */
#pragma D option quiet

struct in { int a; int b; };
struct out { char c; struct in i; struct in j[2]; };
struct out v;
BEGIN { v.i.b = 5; v.j[1].a = 6; printf("%d %d %d %d\n", v.i.b, v.j[1].a, v.j[0].a, sizeof (struct out)); exit(0); }

/* expect: 5 6 0 28 */
