/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations of the file driver: accepted, begun and ended by a worker, answered. {thread_id, tag} names an operation.
 * The port, the last argument of efile_drv-entry, is not shown: DTrace for Linux gives a script the first ten.
 * Numbers of commands and what i1 to i4 are: docs/internals/files.md; errors are those of errno(3).
 *   sed 's/\$target/PID/' scripts/d/efile_drv.d | dtrace -s /dev/stdin
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("tracing\n");
}

erlang$target:::efile_drv-entry
{
    printf("efile_drv-entry thread_id=%d tag=%d user_tag=%s command=%d s1=%s s2=%s i1=%d i2=%d i3=%d i4=%d\n",
        (int)arg0,
        (int)arg1,
        arg2 != 0 ? copyinstr(arg2) : "",
        (int)arg3,
        arg4 != 0 ? copyinstr(arg4) : "",
        arg5 != 0 ? copyinstr(arg5) : "",
        (int64_t)arg6,
        (int64_t)arg7,
        (int64_t)arg8,
        (int64_t)arg9);
}

erlang$target:::efile_drv-int_entry
{
    printf("efile_drv-int_entry thread_id=%d tag=%d command=%d\n",
        (int)arg0,
        (int)arg1,
        (int)arg2);
}

erlang$target:::efile_drv-int_return
{
    printf("efile_drv-int_return thread_id=%d tag=%d command=%d\n",
        (int)arg0,
        (int)arg1,
        (int)arg2);
}

erlang$target:::efile_drv-return
{
    printf("efile_drv-return thread_id=%d tag=%d user_tag=%s command=%d ok=%d error=%d\n",
        (int)arg0,
        (int)arg1,
        copyinstr(arg2),
        (int)arg3,
        (int)arg4,
        (int)arg5);
}
