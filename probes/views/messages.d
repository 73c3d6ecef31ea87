/*
 * Which process sends to which, how many messages and how large, and how long messages wait in mailboxes before they
 * are received.
 */
#pragma D option quiet
#pragma D option dynvarsize=32m
#pragma D option aggsize=16m

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

erlang*:::message-send
{
	@sent[copyinstr(arg0), copyinstr(arg1)] = count();
	@words[copyinstr(arg0), copyinstr(arg1)] = sum(arg2);
}

erlang*:::message-queued
{
	@queue[copyinstr(arg0)] = max(arg2);
	queued[message] = timestamp;
}

erlang*:::message-receive
{
	@received[copyinstr(arg0)] = count();
}

/* How long a message waited that was queued before this began is unknown. */
erlang*:::message-receive
/queued[message]/
{
	this->ns = timestamp - queued[message];
	queued[message] = 0;
	@average[copyinstr(arg0)] = avg(this->ns);
	@longest[copyinstr(arg0)] = max(this->ns);
	@latency[copyinstr(arg0)] = llquantize(this->ns, 10, 3, 10, 10);
}

tick-${duration}ns { exit(0); }

tick-${interval}ns,
END
{
	printa("%-20s to %-20s %@8d messages %@10d words\n", @sent, @words);
	printa("%-20s %@8d queued at most, %@8d received after %@10d ns on average, %@10d ns at most\n", @queue, @received, @average, @longest);
	printa("%-20s waited, in ns%@d\n", @latency);
	trunc(@sent);
	trunc(@words);
	trunc(@queue);
	trunc(@received);
	trunc(@average);
	trunc(@longest);
	trunc(@latency);
}
