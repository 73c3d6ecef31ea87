/* The subroutine strtoll and its like. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d\n", strtoll("42"), strtoll("ff", 16), strtoll("-7x"));
	exit(0);
}

/* expect: 42 255 -7 */
