/* count, printed at the end. */
#pragma D option quiet

BEGIN
{
	@ = count();
	@ = count();
	exit(0);
}

/* expect: */
/* expect:                 2 */
