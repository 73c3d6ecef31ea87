/* process-spawn: the function. */
/* target: calls.act */
#pragma D option quiet

erlang*:::process-spawn /copyinstr(arg1) == "calls:worker/1"/ { @ = count(); }
END { printa("%@d\n", @); }

/* expect: 3 */
