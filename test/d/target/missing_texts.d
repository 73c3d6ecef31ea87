/* A text that the program has not given is NULL, as a tag that is not set. */
/* target: own_probes.act */
#pragma D option quiet

erlang*:::user_trace-i4s4 { printf("%d %d '%s'\n", arg1 == NULL, arg7 == NULL, arg7 == NULL ? "" : copyinstr(arg7)); }

/* expect: 1 0 'two' */
/* expect: 1 1 '' */
/* expect: 1 1 '' */
