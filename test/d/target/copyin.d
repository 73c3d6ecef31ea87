/* Bytes of an argument's text; copyinto puts them to memory of the script's. */
/* target: own_probes.act */
#pragma D option quiet

erlang*:::user_trace-i4s4
/copyinstr(arg6) == "ten"/
{
	this->a = (char *)copyin(arg6, 2);
	this->b = (char *)alloca(8);
	copyinto(arg6, 8, this->b);
	printf("%c%c %s\n", this->a[0], this->a[1], stringof(this->b));
}

/* expect: te ten */
