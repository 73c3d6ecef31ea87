/* The subroutine index and its like. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d\n", index("abcabc", "c"), index("abcabc", "c", 3), rindex("abcabc", "c"), index("abc", "x"));
	exit(0);
}

/* expect: 2 5 5 -1 */
