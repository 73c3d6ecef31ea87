/* count, and sums that come to 0, are there. */
#pragma D option quiet

BEGIN
{
	@["x"] = sum(5); @["x"] = sum(-5);
	printa("%s=%@d\n", @);
	exit(0);
}

/* expect: x=0 */
