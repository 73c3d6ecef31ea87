/* A text of the machine is one of the script's. */
/* target: own_probes.act */
#pragma D option quiet

erlang*:::user_trace-s1 { printf("%d %s\n", strlen(copyinstr(arg0)), strjoin(copyinstr(arg0), "!")); }

/* expect: 4 here! */
