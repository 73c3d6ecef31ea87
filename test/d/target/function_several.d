/* Several clauses at one function, one with two descriptions that both name it. */
/* target: functions.act */
#pragma D option quiet

erlang*:functions:called:entry { @["first"] = count(); }
erlang*:functions:call*:entry, erlang*:functions:called/1:entry { @["second"] = count(); }
erlang*:functions:called/2:entry { @["of another arity"] = count(); }
END { printa("%s %@d\n", @); }

/* expect: first 12 */
/* expect: second 12 */
