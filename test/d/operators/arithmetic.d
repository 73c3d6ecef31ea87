/* + - * / % */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d %d\n", 7 + 3, 7 - 3, 7 * 3, 7 / 3, 7 % 3);
	exit(0);
}

/* expect: 10 4 21 2 1 */
