/* The text of no process is empty, but there, and no address 0. */
/* target: everything.act */
#pragma D option quiet

erlang*:::binary-release /copyinstr(arg0) == ""/
{
	self->kept = arg0;
	array["x"] = arg0;
	printf("%d '%s' '%s' %d\n", arg0 == 0, copyinstr(self->kept), copyinstr(array["x"]), strlen(copyinstr(arg0)));
	exit(0);
}

/* expect: 0 '' '' 0 */
