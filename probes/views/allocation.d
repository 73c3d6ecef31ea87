/*
 * What allocates: the words that a process has put on its heap since its last collection, messages that it has received included,
 * are put down to the stack that it is at when the heap is full. Every word is counted once, by collections and exits; who fills a
 * heap to the brim is a sample of who fills it. Binaries of more than 64 bytes lie outside the heaps: only their handles count.
 */
#pragma D option quiet
#pragma D option aggsize=16m
#pragma D option dynvarsize=16m
#pragma D option ustackframes=256

/* One more than the words in use when counting began, so that 0 is a process that is new to us. */
self int64_t counted;

erlang*:::process-scheduled
/!self->counted/
{
    self->counted = heapused + 1;
}

erlang*:::gc_minor-start, erlang*:::gc_major-start, erlang*:::process-exit
/self->counted && heapused >= self->counted && index(regname, "<") == 0/
{
    @words[label, ustack()] = sum(heapused + 1 - self->counted);
}

erlang*:::gc_minor-start, erlang*:::gc_major-start, erlang*:::process-exit
/self->counted && heapused >= self->counted && index(regname, "<") != 0/
{
    @words[regname, ustack()] = sum(heapused + 1 - self->counted);
}

erlang*:::gc_minor-end, erlang*:::gc_major-end
{
    self->counted = heapused + 1;
}

tick-${duration}ns { exit(0); }
