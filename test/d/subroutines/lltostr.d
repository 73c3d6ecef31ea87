/* The subroutine lltostr and its like. */
#pragma D option quiet

BEGIN
{
	printf("%s %s %s\n", lltostr(42), lltostr(-1), lltostr(255, 16));
	exit(0);
}

/* expect: 42 -1 0xff */
