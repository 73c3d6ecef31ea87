/* #pragma D option quiet. */

#pragma D option quiet
BEGIN
{
	printf("x\n");
	exit(0);
}

/* expect: x */
