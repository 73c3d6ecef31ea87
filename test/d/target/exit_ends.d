/* exit ends tracing, and what -c has started. */
/* target: long.act */
/* status: 3 */
#pragma D option quiet

erlang*:::user_trace-i4s4 { exit(3); }

/* expect: */
