/* probemod and probefunc are the Erlang module and function. */
/* target: calls.act */
#pragma D option quiet

erlang*:calls:hot:entry { @[probemod, probefunc, probename] = count(); }
END { printa("%s %s %s %@d\n", @); }

/* expect: calls hot entry 10 */
