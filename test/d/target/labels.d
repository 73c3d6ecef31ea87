/* A label of proc_lib:set_label is what a process is called, beside a registered name. */
/* target: labelled.act */
#pragma D option quiet

erlang$target:::message-send
/copyinstr(arg0) == self && label != initcall/
{
	printf("%s %s\n", regname == self ? "pid" : regname, label);
}

/* expect: pid {worker,7} */
/* expect: named "text" */
