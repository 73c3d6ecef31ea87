/* A key that is not there: what is done with the value fires ERROR, as badkey would in Erlang. */
/* target: exits.act */
#pragma D option quiet

erlang*:::process-exit /is_map(targs[1])/ { printf("%s\n", map_get("nothing", targs[1])); }
ERROR { printf("fault %d\n", arg4); }

/* expect: fault 3 */
/* expect: fault 3 */
/* expect-err: illegal operation in action #1 */
