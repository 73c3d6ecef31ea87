/* %c is a character, %C one that is written as in C. */
#pragma D option quiet

BEGIN
{
	printf("%c%c|%C%C\n", 'o', 'k', 'a', '\n');
	exit(0);
}

/* expect: ok|a\n */
