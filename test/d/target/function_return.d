/* Its returns. */
/* requires: probes of functions by name, which are not there yet */
/* target: calls.act */
#pragma D option quiet

erlang*:calls:hot:return { @ = count(); }
END { printa("%@d\n", @); }

/* expect: 10 */
