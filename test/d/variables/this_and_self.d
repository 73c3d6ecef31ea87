/* this-> and self->. */
#pragma D option quiet

BEGIN
{
	this->x = 3;
	self->y = 4;
	printf("%d %d\n", this->x, self->y);
	exit(0);
}

/* expect: 3 4 */
