/* normalize divides what is shown, denormalize undoes it. */
#pragma D option quiet

BEGIN
{
	@ = sum(5000);
	normalize(@, 1000);
	printa("%@d ", @);
	denormalize(@);
	printa("%@d\n", @);
	exit(0);
}

/* expect: 5 5000 */
