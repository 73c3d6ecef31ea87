/* As many frames as ustack() shows: lists:reverse/1, work/1 as often as it is under way, init's. */
/* target: reverse.act */
#pragma D option quiet

erlang*:lists:reverse/1:entry /umod(ucaller) == "reverse"/ { @[ustackdepth] = count(); }
END { printa("%d: %@d\n", @); }

/* expect: 3: 1 */
/* expect: 4: 1 */
