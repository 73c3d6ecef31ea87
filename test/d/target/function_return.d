/* Its returns. */
/* target: calls.act */
#pragma D option quiet

erlang*:calls:hot:return { @ = count(); }
END { printa("%@d\n", @); }

/* expect: 10 */
