/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every call of a callback of a driver, with the port it works for.
 *   sed 's/\$target/PID/' scripts/d/driver.d | dtrace -s /dev/stdin
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("tracing\n");
}

erlang$target:::driver-init
{
    printf("driver-init driver_name=%s major=%d minor=%d flags=%d\n",
        copyinstr(arg0),
        (int)arg1,
        (int)arg2,
        (int)arg3);
}

erlang$target:::driver-start
{
    printf("driver-start caller=%s driver_name=%s port=%s\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2));
}

erlang$target:::driver-stop
{
    printf("driver-stop pid=%s driver_name=%s port=%s\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2));
}

erlang$target:::driver-finish
{
    printf("driver-finish driver_name=%s\n",
        copyinstr(arg0));
}

erlang$target:::driver-flush
{
    printf("driver-flush pid=%s port=%s port_name=%s\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2));
}

erlang$target:::driver-output
{
    printf("driver-output caller=%s port=%s port_name=%s size=%d\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2),
        (int)arg3);
}

erlang$target:::driver-outputv
{
    printf("driver-outputv caller=%s port=%s port_name=%s size=%d\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2),
        (int)arg3);
}

erlang$target:::driver-control
{
    printf("driver-control caller=%s port=%s port_name=%s command=%d size=%d\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2),
        (int)arg3,
        (int)arg4);
}

erlang$target:::driver-call
{
    printf("driver-call caller=%s port=%s port_name=%s command=%d size=%d\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2),
        (int)arg3,
        (int)arg4);
}

erlang$target:::driver-event
{
    printf("driver-event pid=%s port=%s port_name=%s\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2));
}

erlang$target:::driver-ready_input
{
    printf("driver-ready_input pid=%s port=%s port_name=%s\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2));
}

erlang$target:::driver-ready_output
{
    printf("driver-ready_output pid=%s port=%s port_name=%s\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2));
}

erlang$target:::driver-timeout
{
    printf("driver-timeout pid=%s port=%s port_name=%s\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2));
}

erlang$target:::driver-ready_async
{
    printf("driver-ready_async pid=%s port=%s port_name=%s\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2));
}

erlang$target:::driver-process_exit
{
    printf("driver-process_exit pid=%s port=%s port_name=%s\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2));
}

erlang$target:::driver-stop_select
{
    printf("driver-stop_select driver_name=%s\n",
        copyinstr(arg0));
}
