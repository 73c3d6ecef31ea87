/* && and || leave out what need not be known. */
#pragma D option quiet

BEGIN
{
	x = 0;
	y = 0 && (x = 1);
	z = 1 || (x = 1);
	printf("%d %d %d\n", x, y, z);
	exit(0);
}

/* expect: 0 0 1 */
