/* A function by its name. */
/* target: calls.act */
#pragma D option quiet

erlang*:calls:hot:entry { @ = count(); }
END { printa("%@d\n", @); }

/* expect: 10 */
