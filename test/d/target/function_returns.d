/* A function that ends in a tail call, or with an exception, does not return. */
/* target: functions.act */
#pragma D option quiet

erlang*:functions:called:return,
erlang*:functions:down:return,
erlang*:functions:back:return,
erlang*:functions:spawned:return { @[probefunc] = count(); }
END { printa("%s %@d\n", @); }

/* expect: down 1 */
/* expect: back 4 */
/* expect: spawned 6 */
/* expect: called 12 */
