/*
 * File operations across threads, by what is done and to which file: how long they waited for a worker, how long
 * the worker took (system calls), how many failed. {thread_id, tag} names an operation. A file that was open before
 * has its port's name.
 */
#pragma D option quiet
#pragma D option dynvarsize=16m

int64_t begun[int, int], taken[int, int], worked[int, int], bytes[int, int];
string name[string], what[int], path[int, int];

BEGIN
{
	what[1] = "open";
	what[2] = "read";
	what[3] = "seek";
	what[4] = "write";
	what[5] = "fstat";
	what[6] = "pwd";
	what[7] = "list directory";
	what[8] = "change directory";
	what[9] = "sync";
	what[10] = "make directory";
	what[11] = "delete";
	what[12] = "rename";
	what[13] = "delete directory";
	what[14] = "truncate";
	what[15] = "read file";
	what[16] = "write info";
	what[19] = "stat";
	what[20] = "read link";
	what[21] = "link";
	what[22] = "symlink";
	what[23] = "close";
	what[24] = "write at";
	what[25] = "read at";
	what[26] = "set option";
	what[27] = "read block";
	what[28] = "short name";
	what[29] = "read line";
	what[30] = "sync data";
	what[31] = "advise";
	what[32] = "send file";
	what[33] = "allocate";
}

erlang*:::efile_drv-entry
{
	begun[arg0, arg1] = timestamp;
	taken[arg0, arg1] = 0;
	bytes[arg0, arg1] = arg3 == 4 || arg3 == 24 || arg3 == 25 ? arg8 : arg3 == 2 ? arg8 : 0;
}

/* A port has the name of the file it opened. */
erlang*:::efile_drv-entry
/arg4 != 0 && arg3 == 1/
{
	name[copyinstr(arg10)] = copyinstr(arg4);
}

erlang*:::efile_drv-entry
{
	this->port = copyinstr(arg10);
	path[arg0, arg1] = arg4 != 0 ? copyinstr(arg4) : name[this->port] != NULL ? name[this->port] : this->port;
}

/* This comes before its system calls. An operation inside another one counts with that one. */
erlang*:::efile_drv-int_entry
/begun[arg0, arg1] && !taken[arg0, arg1]/
{
	taken[arg0, arg1] = timestamp;
}

erlang*:::efile_drv-int_return
/taken[arg0, arg1]/
{
	worked[arg0, arg1] = timestamp - taken[arg0, arg1];
}

erlang*:::efile_drv-return
/begun[arg0, arg1]/
{
	this->ns = timestamp - begun[arg0, arg1];
	this->queued = taken[arg0, arg1] ? taken[arg0, arg1] - begun[arg0, arg1] : 0;
	@time[what[arg3], path[arg0, arg1]] = sum(this->ns);
	@system[what[arg3], path[arg0, arg1]] = sum(worked[arg0, arg1]);
	@queued[what[arg3], path[arg0, arg1]] = sum(this->queued);
	@longest[what[arg3], path[arg0, arg1]] = max(this->ns);
	@done[what[arg3], path[arg0, arg1]] = count();
	@bytes[what[arg3], path[arg0, arg1]] = sum(bytes[arg0, arg1]);
	@failed[what[arg3], path[arg0, arg1]] = sum(arg4 == 0);
	begun[arg0, arg1] = 0;
	taken[arg0, arg1] = 0;
	worked[arg0, arg1] = 0;
	bytes[arg0, arg1] = 0;
	path[arg0, arg1] = 0;
}

tick-${duration}ns { exit(0); }

tick-${interval}ns,
END
{
	printa("%-16s %-40s %@12d ns in all: %@12d system calls, %@12d queued; %@12d ns at most, %@8d times, %@10d bytes, %@d failed\n",
	    @time, @system, @queued, @longest, @done, @bytes, @failed);
	trunc(@time);
	trunc(@system);
	trunc(@queued);
	trunc(@longest);
	trunc(@done);
	trunc(@bytes);
	trunc(@failed);
}
