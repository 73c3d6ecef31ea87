/* The subroutine substr and its like. */
#pragma D option quiet

BEGIN
{
	printf("%s %s %s %s\n", substr("abcdef", 2), substr("abcdef", 2, 2), substr("abcdef", -2), substr("abcdef", 0, -1));
	exit(0);
}

/* expect: cdef cd ef abcde */
