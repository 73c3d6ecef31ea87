/* %x, %X, %o and #. */
#pragma D option quiet

BEGIN
{
	printf("%x %X %o %#x %#o\n", 48879, 48879, 8, 255, 8);
	exit(0);
}

/* expect: beef BEEF 10 0xff 010 */
