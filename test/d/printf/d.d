/* The conversions %d and %i. */
#pragma D option quiet

BEGIN
{
	printf("%d %i %d\n", 5, -5, 0);
	exit(0);
}

/* expect: 5 -5 0 */
