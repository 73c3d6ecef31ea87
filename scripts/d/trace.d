/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What dyntrace as a tracer is told:
 *   erlang:trace(all, true, [procs, send, {tracer, dyntrace, State}])
 *   seq_trace:set_system_tracer({dyntrace, State})
 *   sed 's/\$target/PID/' scripts/d/trace.d | dtrace -s /dev/stdin
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("tracing\n");
}

erlang$target:::trace
{
    printf("trace %s %s state=%s %s %s\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2),
        copyinstr(arg3),
        arg4 != 0 ? copyinstr(arg4) : "");
}

erlang$target:::trace_seq
{
    printf("trace_seq state=%s label=%s %s\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2));
}
