/* self-> arrays. */
#pragma D option quiet

BEGIN
{
	self->a["k"] = 9;
	printf("%d %d\n", self->a["k"], self->a["none"]);
	exit(0);
}

/* expect: 9 0 */
