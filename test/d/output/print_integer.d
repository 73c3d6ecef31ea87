/* print: the type, then the value. */
#pragma D option quiet

BEGIN
{
	print((int)5);
	exit(0);
}

/* expect: int 5 */
