/* The sizes h, l and ll are taken; the argument's own decides. */
#pragma D option quiet

BEGIN
{
	printf("%hd %ld %lld\n", (short)1, (long)2, (long long)3);
	exit(0);
}

/* expect: 1 2 3 */
