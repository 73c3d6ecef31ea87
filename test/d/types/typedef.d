/* typedef. */
#pragma D option quiet

typedef int meters_t;
meters_t m;

BEGIN
{
	m = 5;
	printf("%d %d\n", m, sizeof(meters_t));
	exit(0);
}

/* expect: 5 4 */
