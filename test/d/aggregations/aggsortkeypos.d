/* The option aggsortkeypos. */
/* flags: -x aggsortkey -x aggsortkeypos=1 */
#pragma D option quiet

BEGIN
{
	@[1, 30] = sum(3); @[2, 20] = sum(1); @[3, 10] = sum(2);
	printa("%d/%d ", @);
	exit(0);
}

/* expect: 3/10 2/20 1/30 */
