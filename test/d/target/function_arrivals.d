/* A function fires once for each call, in whatever way it is made. */
/* target: functions.act */
#pragma D option quiet

erlang*:functions:called:entry,
erlang*:functions:applied:entry,
erlang*:functions:given/1:entry,
erlang*:functions:spawned:entry,
erlang*:functions:down:entry,
erlang*:functions:waits:entry,
erlang*:functions:back:entry { @[probefunc] = count(); }
END { printa("%s %@d\n", @); }

/* expect: waits 3 */
/* expect: applied 4 */
/* expect: given 5 */
/* expect: spawned 6 */
/* expect: back 8 */
/* expect: called 12 */
/* expect: down 101 */
