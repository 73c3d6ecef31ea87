/* probemod and probefunc are the Erlang module and function. */
/* target: calls.act */
/* requires: probemod and probefunc of functions by name, which are those of the probe so far */
#pragma D option quiet

erlang*:calls:hot:entry { @[probemod, probefunc, probename] = count(); }
END { printa("%s %s %s %@d\n", @); }

/* expect: calls hot entry 10 */
