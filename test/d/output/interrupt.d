/* An interrupt runs END and prints the aggregations. */
/* interrupt: ready */
#pragma D option quiet

BEGIN { @ = sum(7); printf("ready\n"); }
END { printf("end\n"); }

/* expect: ready */
/* expect: */
/* expect: end */
/* expect: */
/* expect:                 7 */
