/* An aggregation by a text. */
/* target: own_probes.act */
#pragma D option quiet

erlang*:::user_trace-i4s4 { @[copyinstr(arg6)] = sum(arg2); }
END { printa("%s %@d\n", @); }

/* expect: one 1 */
/* expect: more 10 */
/* expect: ten 10 */
