/* The subroutine byte_order and its like. */
#pragma D option quiet

BEGIN
{
	printf("%x %x %x\n", htons(0x1234), htonl(0x12345678), ntohs(0x1234));
	exit(0);
}

/* expect: 3412 78563412 3412 */
