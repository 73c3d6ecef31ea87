/* trunc without a number takes all away. */
#pragma D option quiet

BEGIN
{
	@a[1] = sum(1);
	trunc(@a);
	printa("%d\n", @a);
	printf("end\n");
	exit(0);
}

/* expect: end */
