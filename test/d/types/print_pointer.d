/* print() of a pointer. */
#pragma D option quiet

struct s { int *p; };
struct s v;
BEGIN { v.p = (int *)4096; print(v); exit(0); }

/* expect: struct s { */
/* expect:     int * p = 0x1000 */
/* expect: } */
