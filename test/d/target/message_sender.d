/* Sender and receiver are processes; the key's text is made by the reader. */
/* target: messages.act */
#pragma D option quiet

erlang*:::message-send /arg2 == 11/ { @[copyinstr(arg0) == copyinstr(arg1)] = count(); }
END { printa("%d: %@d\n", @); }

/* expect: 0: 5 */
