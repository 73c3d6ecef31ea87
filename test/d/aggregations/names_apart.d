/* An aggregation and a variable may have one name. */
#pragma D option quiet

BEGIN { a = 5; @a = sum(a); printa("%@d\n", @a); printf("%d\n", a); exit(0); }

/* expect: 5 */
/* expect: 5 */
