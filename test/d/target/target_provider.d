/* erlang$target is the machine's provider. */
/* target: own_probes.act */
#pragma D option quiet

erlang$target:::user_trace-s1 { printf("%d\n", pid == $target); }

/* expect: 1 */
