/* printa without a format; what was printed is not printed again. */
#pragma D option quiet

BEGIN
{
	@a = count();
	printa(@a);
	exit(0);
}

/* expect: */
/* expect:                 1 */
