/* printa with several aggregations: a row for each key of any. */
#pragma D option quiet

BEGIN
{
	@a[1] = sum(3); @a[2] = sum(1); @b[1] = max(10); @b[3] = max(20);
	printa("%d %@d %@d\n", @a, @b);
	exit(0);
}

/* expect: 3 0 20 */
/* expect: 2 1 0 */
/* expect: 1 3 10 */
