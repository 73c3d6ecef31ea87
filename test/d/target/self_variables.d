/* self-> belongs to the process that fires. */
/* target: own_probes.act */
#pragma D option quiet

erlang*:::user_trace-i4s4 { self->n++; }
erlang*:::user_trace-s1 { printf("%d\n", self->n); }

/* expect: 3 */
