/* offsetof. */
#pragma D option quiet

struct s { char a; int b; short c; };

BEGIN
{
	printf("%d %d %d\n", offsetof(struct s, a), offsetof(struct s, b), offsetof(struct s, c));
	exit(0);
}

/* expect: 0 4 8 */
