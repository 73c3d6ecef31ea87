/* Constants of an enumeration. */
#pragma D option quiet

enum color { RED, GREEN = 5, BLUE };

BEGIN
{
	printf("%d %d %d\n", RED, GREEN, BLUE);
	exit(0);
}

/* expect: 0 5 6 */
