/* Texts compare by their characters. */
#pragma D option quiet

BEGIN
{
	printf("%d%d%d%d\n", "abc" == "abc", "abc" < "abd", "b" > "abc", "a" != "b");
	exit(0);
}

/* expect: 1111 */
