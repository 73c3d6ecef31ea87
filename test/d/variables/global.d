/* A global is 0 until it is assigned. */
#pragma D option quiet

int x;

BEGIN
{
	printf("%d ", x);
	x = 7;
	printf("%d\n", x);
	exit(0);
}

/* expect: 0 7 */
