/* The option aggsortpos. */
/* flags: -x aggsortpos=1 */
#pragma D option quiet

BEGIN
{
	@a[1] = sum(3); @a[2] = sum(1); @b[1] = sum(5); @b[2] = sum(9);
	printa("%d=%@d,%@d ", @a, @b);
	exit(0);
}

/* expect: 1=3,5 2=1,9 */
