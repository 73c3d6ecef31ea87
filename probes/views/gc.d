/*
 * Collections by process: how many, how long processes stopped for them, what they freed, how heaps grew. Binaries
 * outside the heaps.
 */
#pragma D option quiet
#pragma D option dynvarsize=16m

string owner[int64_t];

erlang*:::gc_minor-start,
erlang*:::gc_major-start
{
	self->began = timestamp;
}

erlang*:::gc_minor-end
/self->began/
{
	@minor[copyinstr(arg0)] = count();
}

erlang*:::gc_major-end
/self->began/
{
	@major[copyinstr(arg0)] = count();
}

erlang*:::gc_minor-end,
erlang*:::gc_major-end
/self->began/
{
	@time[copyinstr(arg0)] = sum(timestamp - self->began);
	@longest[copyinstr(arg0)] = max(timestamp - self->began);
	@reclaimed[copyinstr(arg0)] = sum((int)arg1);
	@heap[copyinstr(arg0)] = max(heapwords);
	self->began = 0;
	self->collections++;
}

/* A process's name is read at its collections 1, 2, 4, 8 ..., because it rarely changes. */
erlang*:::gc_minor-end,
erlang*:::gc_major-end
/self->collections && (self->collections & (self->collections - 1)) == 0/
{
	@name[self, regname, label, initcall] = max(timestamp);
}

erlang*:::process-heap_grow
{
	@grown[copyinstr(arg0)] = sum(arg2 - arg1);
}

erlang*:::binary-alloc
/regname != NULL && (self->binaries++ & 63) == 0/
{
	@name[self, regname, label, initcall] = max(timestamp);
}

/* A binary outside the heaps counts for the process that it was sent to last, until it is released. */
erlang*:::binary-alloc
{
	owner[arg1] = copyinstr(arg0);
	@made[copyinstr(arg0)] = sum(arg2);
	@kept[copyinstr(arg0)] = sum(arg2);
}

erlang*:::binary-resize
/owner[arg2] != NULL/
{
	this->owner = owner[arg2];
	owner[arg2] = 0;
	owner[arg1] = this->owner;
	@kept[this->owner] = sum(arg3 - arg4);
}

erlang*:::binary-receive
/owner[arg1] != NULL/
{
	@kept[owner[arg1]] = sum(-arg2);
	@kept[copyinstr(arg0)] = sum(arg2);
	owner[arg1] = copyinstr(arg0);
}

erlang*:::binary-release
/owner[arg1] != NULL/
{
	@kept[owner[arg1]] = sum(-arg2);
	owner[arg1] = 0;
}

tick-${duration}ns { exit(0); }

tick-${interval}ns,
END
{
	printa("%-20s %@12d ns %@10d ns at most %@6d minor %@6d major %@12d words back %@12d words grown %@12d words\n",
	    @time, @longest, @minor, @major, @reclaimed, @grown, @heap);
	printa("%-20s %@12d bytes of binaries kept, %@12d made\n", @kept, @made);
	trunc(@kept);
	trunc(@made);
	trunc(@time);
	trunc(@longest);
	trunc(@minor);
	trunc(@major);
	trunc(@reclaimed);
	trunc(@grown);
	trunc(@heap);
}
