/* The subroutine strstr and its like. */
#pragma D option quiet

BEGIN
{
	printf("%s|%d\n", strstr("foobar", "ob"), strstr("foobar", "x") == NULL);
	exit(0);
}

/* expect: obar|1 */
