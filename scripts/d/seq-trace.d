/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows what one message causes: everything sent and received with a sequential trace token (seq_trace:set_token(label, N)),
 * and how long each message lay in its mailbox. A message is known by its label, receiver and serial.
 *   sed 's/\$target/PID/' scripts/d/seq-trace.d | dtrace -s /dev/stdin
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("tracing\n");
}

erlang$target:::message-send
/(int)arg3 != 0 || (int)arg5 != 0/
{
    sent[(int)arg3, copyinstr(arg1), (int)arg5] = timestamp;
    printf("send     %s to %s label %d, %d after %d\n",
        copyinstr(arg0),
        copyinstr(arg1),
        (int)arg3, (int)arg5, (int)arg4);
}

erlang$target:::message-receive
/sent[(int)arg3, copyinstr(arg0), (int)arg5] != 0/
{
    printf("receive  %s label %d, %d after %d, waited %d us\n",
        copyinstr(arg0),
        (int)arg3, (int)arg5, (int)arg4, (timestamp - sent[(int)arg3, copyinstr(arg0), (int)arg5]) / 1000);
    @["us in the mailbox"] = quantize((timestamp - sent[(int)arg3, copyinstr(arg0), (int)arg5]) / 1000);
    sent[(int)arg3, copyinstr(arg0), (int)arg5] = 0;
}
