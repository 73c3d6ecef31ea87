/* & | ^ ~ */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d\n", 12 & 10, 12 | 10, 12 ^ 10, ~0);
	exit(0);
}

/* expect: 8 14 6 -1 */
