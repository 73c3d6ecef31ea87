/*
 * Each call of the functions that were named: how often, from where, and how long those took that returned to their caller.
 * A function that ends in a call of another one, or by an exception, does not return; one that calls itself last goes on.
 */
#pragma D option quiet
#pragma D option aggsize=16m
#pragma D option dynvarsize=32m

self int64_t began[int], who[int];

erlang*:${module}:${function}:entry
{
	@calls[copyinstr(arg1), ustack(2)] = count();
}

erlang*:${module}:${function}:entry
/self->began[arg2] == 0 || self->who[arg2] != arg1/
{
	self->began[arg2] = timestamp;
	self->who[arg2] = arg1;
}

erlang*:${module}:${function}:return
/self->began[arg2]/
{
	this->ns = timestamp - self->began[arg2];
	@time[copyinstr(arg1)] = sum(this->ns);
	@returns[copyinstr(arg1)] = count();
	@average[copyinstr(arg1)] = avg(this->ns);
	@longest[copyinstr(arg1)] = max(this->ns);
	self->began[arg2] = 0;
	self->who[arg2] = 0;
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
