/* Unsigned operands compare as such. */
#pragma D option quiet

BEGIN
{
	printf("%d %d\n", (uint64_t)-1 > 1, -1 > 1);
	exit(0);
}

/* expect: 1 0 */
