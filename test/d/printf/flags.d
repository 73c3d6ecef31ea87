/* Flags of integers. */
#pragma D option quiet

BEGIN
{
	printf("%08d|%-8d|%+d|% d|%.5d\n", 123, 123, 123, 123, 123);
	exit(0);
}

/* expect: 00000123|123     |+123| 123|00123 */
