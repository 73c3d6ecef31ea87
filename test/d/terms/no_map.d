/* map_get() of what is no map fires ERROR, as badmap would. */
/* target: exits.act */
#pragma D option quiet

erlang*:::process-exit /is_list(targs[1]) && list_length(targs[1]) == 3/ { x = is_map_key(1, targs[1]); printf("never\n"); }
ERROR { printf("fault %d\n", arg4); }

/* expect: fault 3 */
/* expect-err: illegal operation */
