/* freopen sends what follows elsewhere, and "" back. */
/* flags: -w */
#pragma D option quiet

BEGIN
{
	printf("a\n");
	freopen("/dev/null");
	printf("b\n");
	freopen("");
	printf("c\n");
	exit(0);
}

/* expect: a */
/* expect: c */
