/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binaries outside the heaps: allocated, enlarged or trimmed, received, released; at the end what each process has allocated and
 * what is released of that, in bytes: the difference is still alive.
 *   sed 's/\$target/PID/' scripts/d/binary.d | dtrace -s /dev/stdin
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("tracing\n");
}

erlang$target:::binary-alloc
{
    printf("binary-alloc pid=%s id=%x size=%d\n",
        copyinstr(arg0),
        arg1,
        arg2);
    known[arg1] = 1;
    owner[arg1] = copyinstr(arg0);
    @bytes["allocated", copyinstr(arg0)] = sum(arg2);
}

erlang$target:::binary-resize
{
    printf("binary-resize pid=%s id=%x old_id=%x size=%d old_size=%d\n",
        copyinstr(arg0),
        arg1,
        arg2,
        arg3,
        arg4);
}

erlang$target:::binary-resize
/known[arg2]/
{
    @bytes["released", owner[arg2]] = sum(arg4);
    @bytes["allocated", owner[arg2]] = sum(arg3);
    this->owner = owner[arg2];
    known[arg2] = 0;
    owner[arg2] = 0;
    known[arg1] = 1;
    owner[arg1] = this->owner;
}

erlang$target:::binary-receive
{
    printf("binary-receive pid=%s id=%x size=%d\n",
        copyinstr(arg0),
        arg1,
        arg2);
}

erlang$target:::binary-release
{
    printf("binary-release pid=%s id=%x size=%d\n",
        copyinstr(arg0),
        arg1,
        arg2);
}

erlang$target:::binary-release
/known[arg1]/
{
    @bytes["released", owner[arg1]] = sum(arg2);
    known[arg1] = 0;
    owner[arg1] = 0;
}
