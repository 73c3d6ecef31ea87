/* print() of a structure in a structure, with arrays. */
#pragma D option quiet

struct in { int a; char b[4]; };
struct out { struct in i; short n[2]; };
struct out v;
BEGIN { v.i.a = 1; v.i.b[0] = 'x'; v.n[1] = 7; print(v); exit(0); }

/* expect: struct out { */
/* expect:     struct in i = { */
/* expect:         int a = 1 */
/* expect:         char [4] b = "x" */
/* expect:     } */
/* expect:     short [2] n = [ 0, 7 ] */
/* expect: } */
