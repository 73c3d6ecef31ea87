/* Arguments that are numbers. */
/* target: own_probes.act */
#pragma D option quiet

erlang*:::user_trace-i4s4 { printf("%d %d %d %d\n", arg2, arg3, arg4, arg5); }

/* expect: 1 2 3 4 */
/* expect: 10 0 0 0 */
/* expect: 10 0 0 0 */
