/* printa without keys. */
#pragma D option quiet

BEGIN { @a = max(3); @a = max(9); @b = min(3); @b = min(-9); printa("%@d\n", @a); printa("%@d\n", @b); exit(0); }

/* expect: 9 */
/* expect: -9 */
