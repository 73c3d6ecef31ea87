/* clear keeps the keys. */
#pragma D option quiet

BEGIN
{
	@[1] = sum(4);
	clear(@);
	printa("%d: %@d\n", @);
	exit(0);
}

/* expect: 1: 0 */
