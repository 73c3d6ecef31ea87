/* A predicate on a text. */
/* target: own_probes.act */
#pragma D option quiet

erlang*:::user_trace-i4s4 /copyinstr(arg6) == "ten"/ { printf("%d\n", arg2); }

/* expect: 10 */
