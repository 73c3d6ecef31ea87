/* A call returns when its value reaches the caller, whatever function comes last, or an exception ends it. */
/* target: functions.act */
#pragma D option quiet

erlang*:functions:called:,
erlang*:functions:down:,
erlang*:functions:back:,
erlang*:functions:given:,
erlang*:functions:waits:,
erlang*:functions:spawned: { @[probefunc, probename] = count(); }
END { printa("%s %s %@d\n", @); }

/* expect: waits entry 3 */
/* expect: waits return 3 */
/* expect: back exception 4 */
/* expect: back return 4 */
/* expect: given entry 5 */
/* expect: given return 5 */
/* expect: spawned entry 6 */
/* expect: spawned return 6 */
/* expect: back entry 8 */
/* expect: called entry 12 */
/* expect: called return 12 */
/* expect: down entry 101 */
/* expect: down return 101 */
