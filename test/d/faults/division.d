/* A division by zero fires ERROR and ends the clause; the next one runs. */
#pragma D option quiet

BEGIN { x = 0; y = 1 / x; printf("never\n"); }
BEGIN { printf("b\n"); exit(0); }

/* expect: b */
/* expect-err: divide-by-zero */
