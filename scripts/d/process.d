/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of processes: spawn, exit, exit signals, scheduling, hibernation.
 *   sed 's/\$target/PID/' scripts/d/process.d | dtrace -s /dev/stdin
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("tracing\n");
}

erlang$target:::process-spawn
{
    printf("process-spawn pid=%s mfa=%s\n",
        copyinstr(arg0),
        copyinstr(arg1));
}

erlang$target:::process-exit
{
    printf("process-exit pid=%s reason=%s\n",
        copyinstr(arg0),
        copyinstr(arg1));
}

erlang$target:::process-exit_signal
{
    printf("process-exit_signal sender=%s receiver=%s reason=%s\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2));
}

erlang$target:::process-exit_signal-remote
{
    printf("process-exit_signal-remote sender=%s node=%s receiver=%s reason=%s label=%d previous=%d current=%d\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2),
        copyinstr(arg3),
        (int)arg4,
        (int)arg5,
        (int)arg6);
}

erlang$target:::process-scheduled
{
    printf("process-scheduled pid=%s mfa=%s\n",
        copyinstr(arg0),
        copyinstr(arg1));
}

erlang$target:::process-unscheduled
{
    printf("process-unscheduled pid=%s\n",
        copyinstr(arg0));
}

erlang$target:::process-hibernate
{
    printf("process-hibernate pid=%s mfa=%s\n",
        copyinstr(arg0),
        copyinstr(arg1));
}

erlang$target:::process-port_unblocked
{
    printf("process-port_unblocked pid=%s port=%s\n",
        copyinstr(arg0),
        copyinstr(arg1));
}
