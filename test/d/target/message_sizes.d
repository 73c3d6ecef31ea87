/* message-send: sizes in words. */
/* target: messages.act */
#pragma D option quiet

erlang*:::message-send /arg2 == 11 || arg2 == 16/ { @[arg2] = count(); }
END { printa("%d: %@d\n", @); }

/* expect: 16: 2 */
/* expect: 11: 5 */
