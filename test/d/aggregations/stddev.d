/* stddev of the whole population. */
#pragma D option quiet

BEGIN
{
	@ = stddev(2); @ = stddev(4); @ = stddev(4); @ = stddev(4);
	@ = stddev(5); @ = stddev(5); @ = stddev(7); @ = stddev(9);
	printa("%@d\n", @);
	exit(0);
}

/* expect: 2 */
