/* && || ^^ !: 0 or 1. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d %d\n", 1 && 2, 0 || 0, 1 ^^ 1, 1 ^^ 0, !5);
	exit(0);
}

/* expect: 1 0 0 1 0 */
