/* Octal, hexadecimal, characters, suffixes. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d\n", 0x10, 010, 'A', 5ULL);
	exit(0);
}

/* expect: 16 8 65 5 */
