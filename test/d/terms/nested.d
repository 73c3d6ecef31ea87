/* Terms within terms, deeper than anybody writes them. */
/* target: exits.act */
#pragma D option quiet

erlang*:::process-exit /is_list(targs[1])/ { printf("%d\n", term2int(hd(tl(tl(targs[1]))))); }

/* expect: 3 */
