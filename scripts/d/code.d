/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules that come and go: versions that become current, old versions that are given up.
 *   sed 's/\$target/PID/' scripts/d/code.d | dtrace -s /dev/stdin
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("tracing\n");
}

erlang$target:::code-load
{
    printf("code-load module=%s size=%d replaces=%d\n",
        copyinstr(arg0),
        arg1,
        (int)arg2);
}

erlang$target:::code-purge
{
    printf("code-purge module=%s size=%d\n",
        copyinstr(arg0),
        arg1);
}
