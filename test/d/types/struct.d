/* A structure of the script's own. */
#pragma D option quiet

struct point { int x; int y; };
struct point p;

BEGIN
{
	p.x = 3;
	p.y = 4;
	printf("%d %d %d\n", p.x, p.y, sizeof(struct point));
	exit(0);
}

/* expect: 3 4 8 */
