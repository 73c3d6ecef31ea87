/* printa does not clear. */
#pragma D option quiet

BEGIN { @a = count(); printa("%@d\n", @a); @a = count(); printa("%@d\n", @a); exit(0); }

/* expect: 2 */
/* expect: 2 */
