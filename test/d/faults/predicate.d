/* A fault in a predicate: the clause does not run. */
#pragma D option quiet

BEGIN { x = 0; }
BEGIN /1 / x/ { printf("never\n"); }
BEGIN { exit(0); }

/* expect: */
/* expect-err: in predicate */
