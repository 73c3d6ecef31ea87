/* A negative number keeps the lowest. */
#pragma D option quiet

BEGIN { @a[1] = sum(10); @a[2] = sum(20); @a[3] = sum(30); trunc(@a, -2); printa("%d %@d\n", @a); exit(0); }

/* expect: 1 10 */
/* expect: 2 20 */
