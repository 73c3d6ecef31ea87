/* avg and stddev at the end. */
#pragma D option quiet

BEGIN
{
	@a = avg(3); @a = avg(5);
	@b = stddev(3); @b = stddev(5);
	exit(0);
}

/* expect: */
/* expect:                 4 */
/* expect:                 1 */
