/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every message: sent, queued, received; sizes in words, queue lengths in messages.
 *   sed 's/\$target/PID/' scripts/d/message.d | dtrace -s /dev/stdin
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("tracing\n");
}

erlang$target:::message-send
{
    printf("message-send sender=%s receiver=%s size=%u label=%d previous=%d current=%d\n",
        copyinstr(arg0),
        copyinstr(arg1),
        (uint32_t)arg2,
        (int)arg3,
        (int)arg4,
        (int)arg5);
}

erlang$target:::message-send-remote
{
    printf("message-send-remote sender=%s node=%s receiver=%s size=%u label=%d previous=%d current=%d\n",
        copyinstr(arg0),
        copyinstr(arg1),
        copyinstr(arg2),
        (uint32_t)arg3,
        (int)arg4,
        (int)arg5,
        (int)arg6);
}

erlang$target:::message-queued
{
    printf("message-queued receiver=%s size=%u queue_length=%u label=%d previous=%d current=%d\n",
        copyinstr(arg0),
        (uint32_t)arg1,
        (uint32_t)arg2,
        (int)arg3,
        (int)arg4,
        (int)arg5);
}

erlang$target:::message-priority
{
    printf("message-priority receiver=%s size=%u ahead=%u passed=%u\n",
        copyinstr(arg0),
        (uint32_t)arg1,
        (uint32_t)arg2,
        (uint32_t)arg3);
}

erlang$target:::message-receive
{
    printf("message-receive receiver=%s size=%u queue_length=%u label=%d previous=%d current=%d\n",
        copyinstr(arg0),
        (uint32_t)arg1,
        (uint32_t)arg2,
        (int)arg3,
        (int)arg4,
        (int)arg5);
}
