/* The number of an argument in a variable: copyinstr() of it is the argument's text. */
/* target: messages.act */
#pragma D option quiet

erlang*:::process-spawn
{
	this->p = arg0;
	self->p = (uintptr_t)arg0;
	printf("%d %d\n", copyinstr(this->p) == copyinstr(arg0), copyinstr(self->p) == copyinstr(arg0));
	printf("%s\n", copyinstr(this->p, 3));
	exit(0);
}

/* expect: 1 1 */
/* expect: <0. */
