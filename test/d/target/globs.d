/* A description with a glob matches a family. */
/* target: own_probes.act */
#pragma D option quiet

erlang*:::user_trace-n[78] { printf("%s %d\n", probename, arg2); }

/* expect: user_trace-n7 77 */
/* expect: user_trace-n8 88 */
