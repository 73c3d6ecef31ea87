/* More than there are: all stay. */
#pragma D option quiet

BEGIN { @a[1] = sum(10); @a[2] = sum(20); trunc(@a, 5); printa("%d %@d\n", @a); exit(0); }

/* expect: 1 10 */
/* expect: 2 20 */
