/* $1 and $$1. */
/* args: 17 word */
#pragma D option quiet

BEGIN
{
	printf("%d %s %s\n", $1, $$2, $$1);
	exit(0);
}

/* expect: 17 word 17 */
