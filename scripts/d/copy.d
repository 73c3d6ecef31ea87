/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every copy of a term from one heap to another; at the end a histogram of sizes in words.
 *   sed 's/\$target/PID/' scripts/d/copy.d | dtrace -s /dev/stdin
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("tracing\n");
}

erlang$target:::copy-struct
{
    printf("copy-struct size=%u\n",
        (uint32_t)arg0);
    @["words copied at once"] = quantize(arg0);
}

erlang$target:::copy-object
{
    printf("copy-object pid=%s size=%u\n",
        copyinstr(arg0),
        (uint32_t)arg1);
}
