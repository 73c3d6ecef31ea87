/* %% is one. */
#pragma D option quiet

BEGIN
{
	printf("100%%\n");
	exit(0);
}

/* expect: 100% */
