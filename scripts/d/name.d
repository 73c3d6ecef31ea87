/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registered names: who gets one, who loses it.
 *   sed 's/\$target/PID/' scripts/d/name.d | dtrace -s /dev/stdin
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("tracing\n");
}

erlang$target:::name-register
{
    printf("name-register name=%s who=%s by=%s\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2));
}

erlang$target:::name-unregister
{
    printf("name-unregister name=%s who=%s by=%s ends=%d\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2),
        (int)arg3);
}
