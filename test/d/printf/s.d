/* %s, with width and precision. */
#pragma D option quiet

BEGIN
{
	printf("%s|%5s|%-5s|%.2s\n", "abc", "abc", "abc", "abc");
	exit(0);
}

/* expect: abc|  abc|abc  |ab */
