/* The option aggsortkey. */
/* flags: -x aggsortkey */
#pragma D option quiet

BEGIN
{
	@[1] = sum(3); @[2] = sum(1); @[3] = sum(2);
	printa("%d=%@d ", @);
	exit(0);
}

/* expect: 1=3 2=1 3=2 */
