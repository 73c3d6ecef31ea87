/* print() of an enumeration. */
#pragma D option quiet

enum colour { RED, GREEN = 5 };
struct s { enum colour c; };
struct s v;
BEGIN { v.c = GREEN; print(v); exit(0); }

/* expect: struct s { */
/* expect:     enum colour c = GREEN */
/* expect: } */
