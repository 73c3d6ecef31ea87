/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program fires itself with dyntrace:p, pn and user_trace_s1. There are user_trace-n0 to user_trace-n950: add a
 * clause for each number your program uses.
 *   sed 's/\$target/PID/' scripts/d/user_trace.d | dtrace -s /dev/stdin
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("tracing\n");
}

erlang$target:::user_trace-i4s4
{
    printf("user_trace-i4s4 pid=%s tag=%s %d %d %d %d \"%s\" \"%s\" \"%s\" \"%s\"\n",
        copyinstr(arg0),
        arg1 != 0 ? copyinstr(arg1) : "",
        (int64_t)arg2, (int64_t)arg3, (int64_t)arg4, (int64_t)arg5,
        arg6 != 0 ? copyinstr(arg6) : "",
        arg7 != 0 ? copyinstr(arg7) : "",
        arg8 != 0 ? copyinstr(arg8) : "",
        arg9 != 0 ? copyinstr(arg9) : "");
}

erlang$target:::user_trace-n0
{
    printf("user_trace-n0 pid=%s tag=%s %d %d %d %d \"%s\" \"%s\" \"%s\" \"%s\"\n",
        copyinstr(arg0),
        arg1 != 0 ? copyinstr(arg1) : "",
        (int64_t)arg2, (int64_t)arg3, (int64_t)arg4, (int64_t)arg5,
        arg6 != 0 ? copyinstr(arg6) : "",
        arg7 != 0 ? copyinstr(arg7) : "",
        arg8 != 0 ? copyinstr(arg8) : "",
        arg9 != 0 ? copyinstr(arg9) : "");
}

erlang$target:::user_trace-s1
{
    printf("user_trace-s1 %s\n",
        copyinstr(arg0));
}
