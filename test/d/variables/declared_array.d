/* Associative arrays may be declared. */
#pragma D option quiet

int counts[string, int];

BEGIN
{
	counts["a", 1] = 4;
	printf("%d\n", counts["a", 1]);
	exit(0);
}

/* expect: 4 */
