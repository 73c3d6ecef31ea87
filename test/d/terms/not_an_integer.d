/* term2int() of what is no integer fires ERROR. */
/* target: exits.act */
#pragma D option quiet

erlang*:::process-exit /is_tuple(targs[1])/ { printf("%d\n", targs[1] > 1); }

/* expect: */
/* expect-err: illegal operation */
