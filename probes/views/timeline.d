/*
 * What processes, schedulers, collections, messages, ports and files do, event by event: `vmtrace timeline` draws it, `vmtrace
 * record` keeps the last of it. The word that each printf begins with says what happened (timeline.cpp).
 */
#pragma D option quiet
#pragma D option bufsize=${buffer}
#pragma D option bufpolicy=${policy}

/* The pid stands for a missing registered name. A label is what proc_lib has set, or the initial call. */
erlang*:::process-scheduled
{
    printf("run %s %s %s %s\n", copyinstr(arg0), regname, label, copyinstr(arg1));
}

erlang*:::process-unscheduled
{
    printf("stop %s %s\n", copyinstr(arg0), mfa);
}

/* From when a process could run to when it runs. Queues of dirty schedulers have numbers other than 0. */
erlang*:::process-runnable
{
    printf("runnable %s\n", copyinstr(arg0));
}

erlang*:::process-running
{
    printf("running %s %d\n", copyinstr(arg0), arg2);
}

erlang*:::gc_minor-start
{
    printf("collect %s %s %d\n", copyinstr(arg0), "minor", arg1);
}

erlang*:::gc_major-start
{
    printf("collect %s %s %d\n", copyinstr(arg0), "major", arg1);
}

erlang*:::gc_minor-end,
erlang*:::gc_major-end
{
    printf("collected %s %d\n", copyinstr(arg0), arg1);
}

erlang*:::message-send
{
    printf("send %s %s %d %d\n", copyinstr(arg0), copyinstr(arg1), arg2, message);
}

erlang*:::message-receive
{
    printf("receive %s %d %d %d\n", copyinstr(arg0), arg1, arg2, message);
}

erlang*:::process-spawn
{
    printf("spawn %s %s %s\n", self, copyinstr(arg0), copyinstr(arg1));
}

erlang*:::process-exit
{
    printf("exit %s %s\n", copyinstr(arg0), copyinstr(arg1));
}

erlang*:::process-exit_signal
{
    printf("signal %s %s %s\n", copyinstr(arg0), copyinstr(arg1), copyinstr(arg2));
}

/* What the program itself says: dyntrace:p(Number, Text). */
erlang*:::user_trace-i4s4
{
    printf("mark %s %d %s\n", copyinstr(arg0), arg2, copyinstr(arg6));
}

erlang*:::port-open
{
    printf("port-open %s %s\n", copyinstr(arg2), copyinstr(arg1));
}

erlang*:::port-command, erlang*:::port-control, erlang*:::driver-output, erlang*:::driver-outputv, erlang*:::driver-control,
erlang*:::driver-call, erlang*:::driver-ready_input, erlang*:::driver-ready_output, erlang*:::driver-timeout,
erlang*:::driver-ready_async, erlang*:::driver-flush
{
    printf("port %s %s %s\n", copyinstr(arg1), copyinstr(arg2), probename);
}

erlang*:::port-exit
{
    printf("port-exit %s %s\n", copyinstr(arg1), copyinstr(arg3));
}

/* An operation on a file is named by the scheduler that accepted it and that scheduler's count. */
erlang*:::efile_drv-entry
{
    printf("file %d %d %d %s %s\n", arg0, arg1, arg3, copyinstr(arg4), copyinstr(arg5));
}

erlang*:::efile_drv-int_entry
{
    printf("file-work %d %d\n", arg0, arg1);
}

erlang*:::efile_drv-int_return
{
    printf("file-worked %d %d\n", arg0, arg1);
}

erlang*:::efile_drv-return
{
    printf("file-done %d %d %d %d\n", arg0, arg1, arg4, arg5);
}

tick-${duration}ns { exit(0); }
