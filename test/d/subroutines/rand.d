/* The subroutine rand and its like. */
#pragma D option quiet

BEGIN
{
	x = rand();
	y = rand();
	printf("%d\n", x != y || rand() != x);
	exit(0);
}

/* expect: 1 */
