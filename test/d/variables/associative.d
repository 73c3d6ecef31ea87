/* Associative arrays, keys of several kinds. */
#pragma D option quiet

BEGIN
{
	a["one", 1] = 11;
	a["two", 2] = 22;
	printf("%d %d %d\n", a["one", 1], a["two", 2], a["none", 3]);
	exit(0);
}

/* expect: 11 22 0 */
