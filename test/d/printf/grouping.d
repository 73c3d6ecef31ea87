/* The flag ' groups thousands. */
#pragma D option quiet

BEGIN
{
	printf("%'d\n", 1234567);
	exit(0);
}

/* expect: 1,234,567 */
