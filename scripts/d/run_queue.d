/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for a scheduler: when a process becomes runnable, how long it waits until it runs; at the end a histogram for each kind
 * of scheduler (0: ordinary, 1: dirty CPU, 2: dirty I/O).
 *   sed 's/\$target/PID/' scripts/d/run_queue.d | dtrace -s /dev/stdin
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("tracing\n");
}

erlang$target:::process-runnable
{
    printf("process-runnable pid=%s priority=%d queue=%d\n",
        copyinstr(arg0),
        (int)arg1,
        (int)arg2);
}

erlang$target:::process-running
{
    printf("process-running pid=%s wait=%d queue=%d\n",
        copyinstr(arg0),
        arg1,
        (int)arg2);
    @wait["nanoseconds by kind of scheduler", (int)arg2] = quantize(arg1);
}
