/* printa with a format: the keys in order, then the value. */
#pragma D option quiet

BEGIN
{
	@["x", 7] = sum(5);
	@["y", 8] = sum(4);
	printa("%s/%d: %@d\n", @);
	exit(0);
}

/* expect: y/8: 4 */
/* expect: x/7: 5 */
