/* -e compiles and runs nothing. */
/* flags: -e */
#pragma D option quiet

BEGIN
{
	printf("no\n");
	exit(0);
}

/* expect: */
