/*
 * Ports: commands, bytes written, how often their drivers had something to read, how long they were busy. Which
 * processes had to wait for a busy port, how often and how long at most.
 */
#pragma D option quiet
#pragma D option dynvarsize=16m

string driver[string];
int64_t busy[string];

/* A process that sends to ports is asked for its name. */
erlang*:::port-command,
erlang*:::port-control
/(self->commands++ & 63) == 0/
{
	@name[self, regname, label, initcall] = max(timestamp);
}

erlang*:::port-command
/copyinstr(arg3) == "command"/
{
	@commands[copyinstr(arg1), copyinstr(arg2)] = count();
}

erlang*:::port-control
{
	@commands[copyinstr(arg1), copyinstr(arg2)] = count();
}

erlang*:::driver-output,
erlang*:::driver-outputv
{
	@bytes[copyinstr(arg1), copyinstr(arg2)] = sum(arg3);
	driver[copyinstr(arg1)] = copyinstr(arg2);
}

erlang*:::driver-ready_input
{
	@reads[copyinstr(arg1), copyinstr(arg2)] = count();
}

erlang*:::port-busy
{
	busy[copyinstr(arg0)] = timestamp;
}

erlang*:::port-not_busy
/busy[copyinstr(arg0)]/
{
	this->name = driver[copyinstr(arg0)] != NULL ? driver[copyinstr(arg0)] : "";
	@busy[copyinstr(arg0), this->name] = sum(timestamp - busy[copyinstr(arg0)]);
	busy[copyinstr(arg0)] = 0;
	lately[copyinstr(arg0)] = timestamp;
}

erlang*:::process-port_unblocked
{
	@waits[copyinstr(arg0), copyinstr(arg1)] = count();
}

tick-${duration}ns { exit(0); }

tick-${interval}ns,
END
{
	printa("%-16s %-32s %@8d commands %@12d bytes out %@8d reads %@12d ns busy\n", @commands, @bytes, @reads, @busy);
	printa("%-16s waited for %-16s %@8d times\n", @waits);
	trunc(@commands);
	trunc(@bytes);
	trunc(@reads);
	trunc(@busy);
	trunc(@waits);
}
