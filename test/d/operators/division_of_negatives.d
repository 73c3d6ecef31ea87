/* Division goes towards zero, as in C. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d\n", -7 / 2, -7 % 2, 7 / -2, 7 % -2);
	exit(0);
}

/* expect: -3 -1 -3 1 */
