/* A probe of a machine, and none is named. */
/* status: 1 */

erlang*:::message-send { exit(0); }

/* expect-err: does not match any probes: no -p PID or -c CMD names a machine */
