/* A char pointer is a text only where a text is asked for: wherever it is kept, its own value is the address. */
#pragma D option quiet

struct s { char *p; int v; };
char *global;
char *by_number[int];

BEGIN
{
	this->p = (char *)alloca(8); bcopy("hi", this->p, 3);
	this->s = (struct s *)alloca(sizeof (struct s)); this->s->p = this->p;
	global = this->p; self->p = this->p; by_number[1] = this->p;
	printf("%s %s %s\n", stringof(this->p), (string)this->p, stringof(this->s->p));
	printf("%s %s %s\n", (string)global, (string)self->p, (string)by_number[1]);
	printf("%s %s %d\n", this->s->p, strjoin(global, "!"), strlen(self->p));
	this->v = alloca(4); bcopy("xyz", this->v, 4);
	printf("%s %s\n", (string)this->v, stringof((char *)this->v + 1));
	@[(char *)5] = count();
	trace((char *)17); trace("\n");
	global = (char *)16;
	printf("%p %p %x %d\n", global, (void *)global, (char *)16, (char *)16);
	printa("%p\n", @);
	exit(0);
}

/* expect: hi hi hi */
/* expect: hi hi hi */
/* expect: hi hi! 2 */
/* expect: xyz yz */
/* expect: 17 */
/* expect: 10 10 10 16 */
/* expect: 5 */
