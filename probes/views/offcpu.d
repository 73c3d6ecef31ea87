/*
 * What processes wait for while they do not run: messages or a timeout (receive), a busy port, the end of a
 * suspension; then their turn on a run queue. A wait counts when it is over and the process runs again, for the
 * function that it waited in.
 */
#pragma D option quiet
#pragma D option aggsize=16m
#pragma D option dynvarsize=32m

erlang*:::process-unscheduled
{
	self->left = timestamp;
}

erlang*:::process-running
{
	self->queued = arg1;
	self->why = arg2 == 0 ? "run queue" : arg2 == 1 ? "dirty CPU queue" : "dirty I/O queue";
}

erlang*:::process-scheduled
{
	self->slices++;
}

/* A process's name is read at its slices 1, 2, 4, 8 ..., because it rarely changes. */
erlang*:::process-scheduled
/(self->slices & (self->slices - 1)) == 0/
{
	@name[self, regname, label, copyinstr(arg1)] = max(timestamp);
}

erlang*:::process-scheduled
/self->left && waitreason != ""/
{
	this->took = timestamp - self->left - self->queued;
	@time[self, waitreason, ustack(2)] = sum(this->took);
	@waits[self, waitreason, ustack(2)] = count();
	@average[self, waitreason, ustack(2)] = avg(this->took);
	@longest[self, waitreason, ustack(2)] = max(this->took);
}

erlang*:::process-scheduled
/self->queued/
{
	@time[self, self->why, ustack(2)] = sum(self->queued);
	@waits[self, self->why, ustack(2)] = count();
	@average[self, self->why, ustack(2)] = avg(self->queued);
	@longest[self, self->why, ustack(2)] = max(self->queued);
}

erlang*:::process-scheduled
{
	self->left = 0;
	self->queued = 0;
}

tick-${duration}ns { exit(0); }

tick-${interval}ns,
END
{
	printa("%-20s %-16s %k%@14d ns %@8d waits %@14d ns on average %@14d ns at most\n", @time, @waits, @average, @longest);
	trunc(@time);
	trunc(@waits);
	trunc(@average);
	trunc(@longest);
}
