/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done with the objects of tables: reads and writes, by table; at the end how many of each.
 *   sed 's/\$target/PID/' scripts/d/ets.d | dtrace -s /dev/stdin
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("tracing\n");
}

erlang$target:::ets-lookup
{
    printf("ets-lookup pid=%s name=%s table=%s operation=%s found=%d examined=%d\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2),
        copyinstr(arg3),
        arg4,
        arg5);
    @calls["reads", copyinstr(arg1), copyinstr(arg3)] = count();
}

erlang$target:::ets-write
{
    printf("ets-write pid=%s name=%s table=%s operation=%s objects=%d size=%d\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2),
        copyinstr(arg3),
        arg4,
        arg5);
    @calls["writes", copyinstr(arg1), copyinstr(arg3)] = count();
}
