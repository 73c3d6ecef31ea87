/*
 * Whatever takes longer than a limit, in nanoseconds: slices that run long, waits for a scheduler, collections,
 * operations on files (their wait for a worker, their system calls), messages that lie in a mailbox. Each line says
 * how long it took, what it was, which process, how that process began, and what it was about.
 */
#pragma D option quiet
#pragma D option dynvarsize=32m

int64_t begun[int, int], taken[int, int];
string path[int, int];

erlang*:::process-scheduled
{
	self->on = timestamp;
}

/* A slice ends after 4000 reductions. A long one was in a built-in function or a collection, or had no core. */
erlang*:::process-unscheduled
/self->on && timestamp - self->on > ${limit}/
{
	printf("%d %s %s %s %s\n", timestamp - self->on, "ran", regname, label, "");
}

erlang*:::process-unscheduled
{
	self->on = 0;
}

erlang*:::process-running
/arg1 > ${limit}/
{
	printf("%d %s %s %s %s\n", arg1, "run queue", copyinstr(arg0), "-", "waited for a scheduler");
}

/* only with -B: ${builtins} */
erlang*:::bif-entry
{
	self->called = timestamp;
}

/* only with -B: ${builtins} */
erlang*:::bif-return
/self->called && timestamp - self->called > ${limit}/
{
	printf("%d %s %s %s %s\n", timestamp - self->called, "built-in", regname, label, copyinstr(arg1));
}

erlang*:::gc_minor-start,
erlang*:::gc_major-start
{
	self->collected = timestamp;
}

erlang*:::gc_minor-end,
erlang*:::gc_major-end
/self->collected && timestamp - self->collected > ${limit}/
{
	printf("%d %s %s %s %s\n", timestamp - self->collected, "collection", regname, label, probename);
}

erlang*:::message-queued
{
	queued[message] = timestamp;
}

erlang*:::message-receive
/queued[message] && timestamp - queued[message] > ${limit}/
{
	printf("%d %s %s %s %s\n", timestamp - queued[message], "message", regname, label, "waited in the mailbox");
}

erlang*:::message-receive
{
	queued[message] = 0;
}

erlang*:::efile_drv-entry
{
	begun[arg0, arg1] = timestamp;
	taken[arg0, arg1] = 0;
	path[arg0, arg1] = arg4 != 0 ? copyinstr(arg4) : copyinstr(arg10);
}

erlang*:::efile_drv-int_entry
/begun[arg0, arg1] && !taken[arg0, arg1]/
{
	taken[arg0, arg1] = timestamp;
}

erlang*:::efile_drv-int_entry
/begun[arg0, arg1] && timestamp - begun[arg0, arg1] > ${limit}/
{
	printf("%d %s %s %s %s\n", timestamp - begun[arg0, arg1], "file queue", "-", "-", path[arg0, arg1]);
}

erlang*:::efile_drv-int_return
/taken[arg0, arg1] && timestamp - taken[arg0, arg1] > ${limit}/
{
	printf("%d %s %s %s %s\n", timestamp - taken[arg0, arg1], "system call", "-", "-", path[arg0, arg1]);
}

erlang*:::efile_drv-return
{
	begun[arg0, arg1] = 0;
	taken[arg0, arg1] = 0;
	path[arg0, arg1] = 0;
}

tick-${duration}ns { exit(0); }
