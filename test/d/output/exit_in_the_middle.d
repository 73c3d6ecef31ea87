/* What stands behind exit() in a clause still runs; other clauses of the probe do not matter. */
/* status: 3 */
#pragma D option quiet

BEGIN { printf("a"); exit(3); printf("b\n"); }
END { printf("end\n"); }

/* expect: ab */
/* expect: end */
