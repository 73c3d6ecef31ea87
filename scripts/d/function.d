/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every call and return; depth is the stack in words.
 *   sed 's/\$target/PID/' scripts/d/function.d | dtrace -s /dev/stdin
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("tracing\n");
}

erlang$target:::local-function-entry
{
    printf("local-function-entry pid=%s mfa=%s depth=%d\n",
        copyinstr(arg0),
        copyinstr(arg1),
        (int)arg2);
}

erlang$target:::global-function-entry
{
    printf("global-function-entry pid=%s mfa=%s depth=%d\n",
        copyinstr(arg0),
        copyinstr(arg1),
        (int)arg2);
}

erlang$target:::function-return
{
    printf("function-return pid=%s mfa=%s depth=%d\n",
        copyinstr(arg0),
        copyinstr(arg1),
        (int)arg2);
}
