/* Precedence as in C. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d\n", 1 + 2 * 3, (1 + 2) * 3, 10 - 4 - 3);
	exit(0);
}

/* expect: 7 9 3 */
