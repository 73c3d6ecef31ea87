/* The average is cut to an integer. */
#pragma D option quiet

BEGIN { @a = avg(1); @a = avg(2); @a = avg(5); printa("%@d\n", @a); @b = avg(-1); @b = avg(-2); printa("%@d\n", @b); exit(0); }

/* expect: 2 */
/* expect: -1 */
