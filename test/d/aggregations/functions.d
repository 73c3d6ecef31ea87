/* Each aggregating function of one value. */
#pragma D option quiet

BEGIN
{
	@a = count(); @b = sum(5); @b = sum(-7); @c = avg(10); @c = avg(21);
	@d = min(5); @d = min(-7); @e = max(5); @e = max(-7);
	printa("%@d ", @a); printa("%@d ", @b); printa("%@d ", @c); printa("%@d ", @d); printa("%@d\n", @e);
	exit(0);
}

/* expect: 1 -2 15 -7 5 */
