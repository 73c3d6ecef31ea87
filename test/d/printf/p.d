/* %p is hexadecimal. */
#pragma D option quiet

BEGIN
{
	printf("%p\n", (void *)4096);
	exit(0);
}

/* expect: 1000 */
