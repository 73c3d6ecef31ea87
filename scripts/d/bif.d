/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of built-in functions; at the end how often each was called and how long it took.
 *   sed 's/\$target/PID/' scripts/d/bif.d | dtrace -s /dev/stdin
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("tracing\n");
}

erlang$target:::bif-entry
{
    @calls["calls", copyinstr(arg1)] = count();
    self->bif = timestamp;
}

erlang$target:::bif-return
/self->bif/
{
    @ns["nanoseconds", copyinstr(arg1)] = quantize(timestamp - self->bif);
    self->bif = 0;
}
