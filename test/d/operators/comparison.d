/* < <= > >= == != */
#pragma D option quiet

BEGIN
{
	printf("%d%d%d%d%d%d\n", 1 < 2, 2 <= 1, 2 > 1, 1 >= 2, 1 == 1, 1 != 1);
	exit(0);
}

/* expect: 101010 */
