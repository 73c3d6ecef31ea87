/* The subroutine strlen and its like. */
#pragma D option quiet

BEGIN
{
	printf("%d %d\n", strlen("abc"), strlen(""));
	exit(0);
}

/* expect: 3 0 */
