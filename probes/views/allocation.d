/*
 * What allocates. When a heap is full, the words that its process has put there since the last collection are
 * counted for the stack at that moment; they include messages that it has received. Every word is counted once, by
 * collections and exits. The stack that fills a heap is a sample of all stacks that fill it. Binaries of more than
 * 64 bytes lie outside the heaps, so only their handles count.
 */
#pragma D option quiet
#pragma D option aggsize=16m
#pragma D option dynvarsize=16m
#pragma D option ustackframes=256

/* One more than the words in use when counting began, so that 0 stands for a process not seen before. */
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
