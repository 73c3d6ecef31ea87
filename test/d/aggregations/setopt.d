/* setopt changes how tables are sorted. */
#pragma D option quiet

BEGIN
{
	@[1] = sum(3); @[2] = sum(1);
	setopt("aggsortkey");
	printa("%d ", @);
	exit(0);
}

/* expect: 1 2 */
