/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every collection: what was asked for, what was reclaimed, how long it took.
 *   sed 's/\$target/PID/' scripts/d/gc.d | dtrace -s /dev/stdin
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("tracing\n");
}

erlang$target:::gc_minor-start
{
    printf("gc_minor-start pid=%s need=%d\n",
        copyinstr(arg0),
        (int)arg1);
    self->gc = timestamp;
}

erlang$target:::gc_minor-end
/self->gc/
{
    @ns["gc_minor, nanoseconds"] = quantize(timestamp - self->gc);
    self->gc = 0;
}

erlang$target:::gc_minor-end
{
    printf("gc_minor-end pid=%s reclaimed=%d\n",
        copyinstr(arg0),
        (int)arg1);
}

erlang$target:::gc_major-start
{
    printf("gc_major-start pid=%s need=%d\n",
        copyinstr(arg0),
        (int)arg1);
    self->gc = timestamp;
}

erlang$target:::gc_major-end
/self->gc/
{
    @ns["gc_major, nanoseconds"] = quantize(timestamp - self->gc);
    self->gc = 0;
}

erlang$target:::gc_major-end
{
    printf("gc_major-end pid=%s reclaimed=%d\n",
        copyinstr(arg0),
        (int)arg1);
}
