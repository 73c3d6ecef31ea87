/* normalize() changes what is shown, denormalize() takes it back. */
#pragma D option quiet

BEGIN { @a = sum(100); normalize(@a, 10); printa("%@d\n", @a); denormalize(@a); printa("%@d\n", @a); exit(0); }

/* expect: 10 */
/* expect: 100 */
