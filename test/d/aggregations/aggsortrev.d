/* The option aggsortrev. */
/* flags: -x aggsortrev */
#pragma D option quiet

BEGIN
{
	@[1] = sum(3); @[2] = sum(1); @[3] = sum(2);
	printa("%d=%@d ", @);
	exit(0);
}

/* expect: 1=3 3=2 2=1 */
