/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs going into and out of the queues of the async threads, with the length of the queue.
 *   sed 's/\$target/PID/' scripts/d/aio_pool.d | dtrace -s /dev/stdin
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("tracing\n");
}

erlang$target:::aio_pool-add
{
    printf("aio_pool-add port=%s length=%d\n",
        copyinstr(arg0),
        (int)arg1);
}

erlang$target:::aio_pool-get
{
    printf("aio_pool-get port=%s length=%d\n",
        copyinstr(arg0),
        (int)arg1);
}
