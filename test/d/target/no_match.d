/* A probe that is not there. */
/* target: own_probes.act */
/* status: 1 */
#pragma D option quiet

erlang*:::nosuch { exit(0); }

/* expect-err: does not match any probes */
