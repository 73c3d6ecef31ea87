/* Casts cut and extend. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d\n", (char)200, (unsigned char)200, (short)65537, (int)4294967295);
	exit(0);
}

/* expect: -56 200 1 -1 */
