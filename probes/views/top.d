/*
 * Processes by time on a scheduler, time waiting for a scheduler, messages into and out of their mailboxes, longest
 * queue, largest heap.
 */
#pragma D option quiet
#pragma D option dynvarsize=16m

erlang*:::process-scheduled
{
	self->on = timestamp;
	self->slices++;
}

/* A process's name is read at its slices 1, 2, 4, 8 ..., because it rarely changes. */
erlang*:::process-scheduled
/(self->slices & (self->slices - 1)) == 0/
{
	@name[self, regname, label, copyinstr(arg1)] = max(timestamp);
}

erlang*:::process-unscheduled
/self->on/
{
	@time[self] = sum(timestamp - self->on);
	@memory[self] = max(heapwords);
	self->on = 0;
}

erlang*:::process-running
{
	@wait[copyinstr(arg0)] = sum(arg1);
}

erlang*:::message-send
{
	@out[copyinstr(arg0)] = count();
}

erlang*:::message-queued
{
	@in[copyinstr(arg0)] = count();
	@queue[copyinstr(arg0)] = max(arg2);
}

tick-${duration}ns { exit(0); }

tick-${interval}ns,
END
{
	printa("%-20s %@14d ns %@14d ns waiting %@8d in %@8d out %@6d queued %@10d words\n",
	    @time, @wait, @in, @out, @queue, @memory);
	trunc(@time);
	trunc(@wait);
	trunc(@in);
	trunc(@out);
	trunc(@queue);
	trunc(@memory);
}
