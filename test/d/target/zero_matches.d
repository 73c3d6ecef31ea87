/* -Z: it need not be there. */
/* flags: -Z */
/* target: own_probes.act */
#pragma D option quiet

erlang*:::nosuch { exit(0); }
BEGIN { printf("run\n"); exit(0); }

/* expect: run */
