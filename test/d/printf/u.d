/* %u takes away the sign, at the width of the type. */
#pragma D option quiet

BEGIN
{
	printf("%u %u %u\n", (char)-1, (short)-1, (int)-1);
	exit(0);
}

/* expect: 255 65535 4294967295 */
