/* A term is compared with a string by its text, with an integer as one. */
/* target: exits.act */
#pragma D option quiet

erlang*:::process-exit /is_integer(targs[1])/ { printf("%d %d %d %d\n", targs[1] == 42, targs[1] < 42, 41 < targs[1], targs[1] != 42); }
erlang*:::process-exit /is_atom(targs[1]) && targs[1] == "plain"/ { printf("%s\n", targs[1]); }

/* expect: plain */
/* expect: 1 0 1 0 */
