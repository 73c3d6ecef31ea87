/* Bytes outside the heaps: who gets hold of them, and that all go. */
/* target: events.act */
#pragma D option quiet

binary-alloc /arg2 == 1000/ { known[arg1] = 1; @alive = sum(arg2); @made = count(); }
binary-receive /known[arg1]/ { @received = count(); }
binary-release /known[arg1]/ { known[arg1] = 0; @alive = sum(-arg2); }
END { printa("made %@d, received %@d, alive %@d\n", @made, @received, @alive); }

/* expect: made 1, received 1, alive 0 */
