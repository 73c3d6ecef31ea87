/* Unary + and -. */
#pragma D option quiet

BEGIN
{
	x = 3;
	printf("%d %d\n", -x, +x);
	exit(0);
}

/* expect: -3 3 */
