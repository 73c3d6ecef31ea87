/*
 * Each call of the named functions: how often, from where, and how long it took until its value reached the caller.
 * A call that ends in a tail call of itself goes on. A call that ends by an exception is counted, but not timed.
 * Calls under way when a process hibernates never end.
 */
#pragma D option quiet
#pragma D option aggsize=16m
#pragma D option dynvarsize=32m

self int64_t began[int, int, int];
self int life;

erlang*:${module}:${function}:entry
{
	@calls[copyinstr(arg1), ustack(2)] = count();
}

erlang*:${module}:${function}:entry
/self->began[self->life, arg2, arg1] == 0/
{
	self->began[self->life, arg2, arg1] = timestamp;
}

erlang*:${module}:${function}:return
/self->began[self->life, arg2, arg1]/
{
	this->ns = timestamp - self->began[self->life, arg2, arg1];
	@time[copyinstr(arg1)] = sum(this->ns);
	@returns[copyinstr(arg1)] = count();
	@average[copyinstr(arg1)] = avg(this->ns);
	@longest[copyinstr(arg1)] = max(this->ns);
}

erlang*:${module}:${function}:return,
erlang*:${module}:${function}:exception
{
	self->began[self->life, arg2, arg1] = 0;
}

erlang*:::process-hibernate
{
	self->life++;
}

tick-${duration}ns { exit(0); }

tick-${interval}ns,
END
{
	printa("%s, on top of its caller:%k%@8d calls\n", @calls);
	printa("%-40s %@12d ns, %@8d returns, %@10d ns on average, %@10d ns at most\n", @time, @returns, @average, @longest);
	trunc(@calls);
	trunc(@time);
	trunc(@returns);
	trunc(@average);
	trunc(@longest);
}
