/* Several descriptions, one clause. */
/* target: own_probes.act */
#pragma D option quiet

erlang*:::user_trace-n7, erlang*:::user_trace-s1 { printf("%s\n", probename); }

/* expect: user_trace-n7 */
/* expect: user_trace-s1 */
