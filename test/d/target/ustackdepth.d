/* As many frames as ustack() shows: lists:reverse/1, work/1, init's. */
/* target: reverse.act */
#pragma D option quiet

erlang*:lists:reverse/1:entry /umod(ucaller) == "reverse"/ { @[ustackdepth] = count(); }
END { printa("%d: %@d\n", @); }

/* expect: 3: 2 */
