/* trunc keeps the largest; of a negative number, the smallest. */
#pragma D option quiet

BEGIN
{
	@a[1] = sum(1); @a[2] = sum(2); @a[3] = sum(3);
	@b[1] = sum(1); @b[2] = sum(2); @b[3] = sum(3);
	trunc(@a, 2); trunc(@b, -1);
	printa("%d ", @a); printa("| %d\n", @b);
	exit(0);
}

/* expect: 2 3 | 1 */
