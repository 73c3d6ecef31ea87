/* Width and precision of *. */
#pragma D option quiet

BEGIN
{
	printf("%*d|%-*d|%.*s|%*.*s\n", 6, 42, 6, 42, 2, "abcdef", 5, 2, "abcdef");
	exit(0);
}

/* expect:     42|42    |ab|   ab */
