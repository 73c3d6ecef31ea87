/* A function that is not loaded is no probe of a machine that runs. */
/* attach: forever.act */
/* status: 1 */
#pragma D option quiet

erlang*:forever:nosuch:entry { exit(0); }

/* expect-err: does not match any probes */
