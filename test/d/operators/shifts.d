/* Shifts; >> keeps the sign of what has one. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d\n", 1 << 10, 1024 >> 3, -8 >> 1);
	exit(0);
}

/* expect: 1024 128 -4 */
