/* Texts are values. */
#pragma D option quiet

BEGIN
{
	s = "abc";
	t = s;
	s = "def";
	printf("%s %s\n", t, s);
	exit(0);
}

/* expect: abc def */
