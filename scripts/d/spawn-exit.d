/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processes are made and how they end. Runs as it stands under DTrace; also with
 *   sed 's/\$target/PID/' scripts/d/spawn-exit.d | dtrace -s /dev/stdin
 */
#pragma D option quiet

erlang$target:::process-spawn
{
    printf("spawn %s mfa %s\n", copyinstr(arg0), copyinstr(arg1));
}

erlang$target:::process-exit
{
    printf("exit %s reason %s\n", copyinstr(arg0), copyinstr(arg1));
}

erlang$target:::process-exit_signal
{
    printf("signal from %s to %s reason %s\n", copyinstr(arg0), copyinstr(arg1), copyinstr(arg2));
}
