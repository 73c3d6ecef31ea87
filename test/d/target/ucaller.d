/* Who calls a function: by name, by module. */
/* target: reverse.act */
#pragma D option quiet

erlang*:lists:reverse/1:entry /umod(ucaller) == "reverse"/ { @[ufunc(ucaller), umod(ucaller), usym(ucaller)] = count(); }
END { printa("%s %s %s %@d\n", @); }

/* expect: reverse:work/1 reverse reverse:work/1 2 */
