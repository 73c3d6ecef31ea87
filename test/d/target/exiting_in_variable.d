/* A process that has only to exit resumes in no function, but its text is there whatever variable keeps the argument. */
/* target: exits.act */
#pragma D option quiet

uintptr_t seen;

erlang*:::process-scheduled
{
	self->kept = arg1;
	this->kept = arg1;
	kept = arg1;
	array[arg0] = arg1;
	self->array[1] = (uintptr_t)arg1;
}

erlang*:::process-scheduled /copyinstr(arg1) == "<exiting>"/
{
	printf("%d %d %d ", arg1 == 0, self->kept == 0, arg1 == NULL);
	printf("%s %s %s ", copyinstr(self->kept), copyinstr(this->kept), copyinstr(kept));
	printf("%s %s ", copyinstr(array[arg0]), copyinstr(self->array[1]));
	printf("%s\n", stringof(copyinstr(kept, 4)));
}

/* Also in a firing in another process, which has the same. */
erlang*:::process-scheduled /seen != 0 && seen == arg1/ { again = copyinstr(seen); n++; }
erlang*:::process-scheduled /copyinstr(arg1) == "<exiting>"/ { seen = arg1; }
erlang*:::process-exit { self->kept = 0; }

END { printf("%d %s\n", n, again); }

/* expect: 0 0 0 <exiting> <exiting> <exiting> <exiting> <exiting> <exi */
/* expect: 0 0 0 <exiting> <exiting> <exiting> <exiting> <exiting> <exi */
/* expect: 0 0 0 <exiting> <exiting> <exiting> <exiting> <exiting> <exi */
/* expect: 2 <exiting> */
