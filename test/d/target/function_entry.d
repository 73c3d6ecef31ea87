/* A function by its name. */
/* requires: probes of functions by name, which are not there yet */
/* target: calls.act */
#pragma D option quiet

erlang*:calls:hot:entry { @ = count(); }
END { printa("%@d\n", @); }

/* expect: 10 */
