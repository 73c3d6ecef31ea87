/* A structure as a this-> variable. */
#pragma D option quiet

struct point { int x; int y; };
this struct point p;

BEGIN
{
	this->p.x = 8;
	printf("%d %d\n", this->p.x, this->p.y);
	exit(0);
}

/* expect: 8 0 */
