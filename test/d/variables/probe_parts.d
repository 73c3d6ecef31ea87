/* The parts of the name of a probe. */
#pragma D option quiet

BEGIN { printf("%s|%s|%s|%s|%d\n", probeprov, probemod, probefunc, probename, id); exit(0); }

/* expect: dtrace|||BEGIN|1 */
