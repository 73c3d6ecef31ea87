/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections to other nodes: that come and go, that have too much to send, packets.
 *   sed 's/\$target/PID/' scripts/d/dist.d | dtrace -s /dev/stdin
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("tracing\n");
}

erlang$target:::dist-monitor
{
    printf("dist-monitor node=%s what=%s other_node=%s type=%s reason=%s\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2),
        copyinstr(arg3),
        copyinstr(arg4));
}

erlang$target:::dist-port_busy
{
    printf("dist-port_busy node=%s port=%s other_node=%s pid=%s\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2),
        copyinstr(arg3));
}

erlang$target:::dist-output
{
    printf("dist-output node=%s port=%s other_node=%s size=%d\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2),
        (int)arg3);
}

erlang$target:::dist-outputv
{
    printf("dist-outputv node=%s port=%s other_node=%s size=%d\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2),
        (int)arg3);
}

erlang$target:::dist-port_not_busy
{
    printf("dist-port_not_busy node=%s port=%s other_node=%s\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2));
}
