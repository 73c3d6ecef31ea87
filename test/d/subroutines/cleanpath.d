/* The subroutine cleanpath and its like. */
#pragma D option quiet

BEGIN
{
	printf("%s %s\n", cleanpath("/a/./b/../c"), cleanpath("/a//b"));
	exit(0);
}

/* expect: /a/c /a/b */
