/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows a request over all nodes that it comes to, by its sequential trace token (seq_trace:set_token(label, N)): which
 * process of which machine sends and receives, in the order of time. The first column is the time in nanoseconds.
 *   vmtrace -q -p PID -p PID -s scripts/d/seq-trace-nodes.d                (--node NODE in place of -p PID)
 *   for each machine: sed 's/\$target/PID/' scripts/d/seq-trace-nodes.d | dtrace -s /dev/stdin; then sort -n on all of it
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("tracing\n");
}

erlang$target:::message-send-remote
/(int)arg4 != 0 || (int)arg6 != 0/
{
    printf("%d %d %s sends to %s at %s: label %d, %d after %d\n", timestamp, pid,
        copyinstr(arg0),
        copyinstr(arg2),
        copyinstr(arg1),
        (int)arg4, (int)arg6, (int)arg5);
}

erlang$target:::message-queued
/(int)arg3 != 0 || (int)arg5 != 0/
{
    printf("%d %d %s is sent a message: label %d, %d after %d\n", timestamp, pid,
        copyinstr(arg0),
        (int)arg3, (int)arg5, (int)arg4);
}

erlang$target:::message-receive
/(int)arg3 != 0 || (int)arg5 != 0/
{
    printf("%d %d %s receives: label %d, %d after %d\n", timestamp, pid,
        copyinstr(arg0),
        (int)arg3, (int)arg5, (int)arg4);
}
