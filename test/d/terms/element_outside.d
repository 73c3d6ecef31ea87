/* element() outside of the tuple fires ERROR. */
/* target: exits.act */
#pragma D option quiet

erlang*:::process-exit /is_tuple(targs[1])/ { printf("%s\n", element(4, targs[1])); }

/* expect: */
/* expect-err: illegal operation */
