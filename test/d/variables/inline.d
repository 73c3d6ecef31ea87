/* inline is a constant with a name. */
#pragma D option quiet

inline int N = 3 * 4;
inline string NAME = "vm";

BEGIN
{
	printf("%d %s\n", N, NAME);
	exit(0);
}

/* expect: 12 vm */
