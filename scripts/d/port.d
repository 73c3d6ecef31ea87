/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What processes do to ports: opening, commands, control, busy ports, closing.
 *   sed 's/\$target/PID/' scripts/d/port.d | dtrace -s /dev/stdin
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("tracing\n");
}

erlang$target:::port-open
{
    printf("port-open owner=%s port_name=%s port=%s\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2));
}

erlang$target:::port-command
{
    printf("port-command sender=%s port=%s port_name=%s type=%s\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2),
        copyinstr(arg3));
}

erlang$target:::port-control
{
    printf("port-control caller=%s port=%s port_name=%s command=%d\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2),
        (int)arg3);
}

erlang$target:::port-exit
{
    printf("port-exit who=%s port=%s port_name=%s reason=%s\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2),
        copyinstr(arg3));
}

erlang$target:::port-connect
{
    printf("port-connect old_owner=%s port=%s port_name=%s new_owner=%s\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2),
        copyinstr(arg3));
}

erlang$target:::port-busy
{
    printf("port-busy port=%s\n",
        copyinstr(arg0));
}

erlang$target:::port-not_busy
{
    printf("port-not_busy port=%s\n",
        copyinstr(arg0));
}
