/* ++ and --, before and behind. */
#pragma D option quiet

BEGIN
{
	x = 5;
	printf("%d %d ", x++, ++x);
	printf("%d %d %d\n", x--, --x, x);
	exit(0);
}

/* expect: 5 7 7 5 5 */
