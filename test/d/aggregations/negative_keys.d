/* Keys with a sign are sorted with it. */
#pragma D option quiet

BEGIN
{
	@[-1] = sum(1); @[1] = sum(1); @[0] = sum(1);
	printa("%d ", @);
	printf("\n");
	exit(0);
}

/* expect: -1 0 1 */
