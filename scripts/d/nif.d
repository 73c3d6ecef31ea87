/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of native functions; at the end how often each was called and how long it took, on schedulers and dirty schedulers alike.
 *   sed 's/\$target/PID/' scripts/d/nif.d | dtrace -s /dev/stdin
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("tracing\n");
}

erlang$target:::nif-entry
{
    @calls["calls", copyinstr(arg1)] = count();
    self->nif = timestamp;
}

erlang$target:::nif-return
/self->nif/
{
    @ns["nanoseconds", copyinstr(arg1)] = quantize(timestamp - self->nif);
    self->nif = 0;
}
