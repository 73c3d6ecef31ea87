/* The subroutine strjoin and its like. */
#pragma D option quiet

BEGIN
{
	printf("%s\n", strjoin("abc", strjoin("-", "def")));
	exit(0);
}

/* expect: abc-def */
