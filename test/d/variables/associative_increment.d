/* Elements are counted up in place. */
#pragma D option quiet

BEGIN
{
	a["x"]++;
	a["x"]++;
	a["x"] += 5;
	printf("%d\n", a["x"]);
	exit(0);
}

/* expect: 7 */
