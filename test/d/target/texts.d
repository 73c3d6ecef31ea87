/* Arguments that are texts. */
/* target: own_probes.act */
#pragma D option quiet

erlang*:::user_trace-i4s4 /arg2 == 1/ { printf("%s %s\n", copyinstr(arg6), copyinstr(arg7)); }

/* expect: one two */
