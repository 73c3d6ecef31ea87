/* The first script of all. */
#pragma D option quiet

BEGIN
{
	printf("hello %d\n", 1 + 1);
	exit(0);
}

/* expect: hello 2 */
