/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes of process heaps: every change of the young generation's block, in words.
 *   sed 's/\$target/PID/' scripts/d/process_heap.d | dtrace -s /dev/stdin
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("tracing\n");
}

erlang$target:::process-heap_grow
{
    printf("process-heap_grow pid=%s old_size=%d new_size=%d\n",
        copyinstr(arg0),
        (int)arg1,
        (int)arg2);
}

erlang$target:::process-heap_shrink
{
    printf("process-heap_shrink pid=%s old_size=%d new_size=%d\n",
        copyinstr(arg0),
        (int)arg1,
        (int)arg2);
}
