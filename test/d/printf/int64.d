/* The ends of 64 bits. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %u\n", 9223372036854775807, -9223372036854775807 - 1, (uint64_t)-1);
	exit(0);
}

/* expect: 9223372036854775807 -9223372036854775808 18446744073709551615 */
