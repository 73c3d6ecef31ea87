/* sizeof a type, an expression, a variable. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d\n", sizeof(char), sizeof(int), sizeof(long long), sizeof(1 + 1));
	exit(0);
}

/* expect: 1 4 8 4 */
