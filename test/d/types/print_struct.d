/* print: members with their types. */
#pragma D option quiet

struct point { int x; unsigned int y; };
struct point p;

BEGIN
{
	p.x = -1;
	p.y = 16;
	print(p);
	printf("\n");
	exit(0);
}

/* expect: struct point { */
/* expect:     int x = -1 */
/* expect:     unsigned int y = 0x10 */
/* expect: } */
