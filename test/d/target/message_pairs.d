/* What is sent is queued and received. */
/* target: messages.act */
#pragma D option quiet

erlang*:::message-send /arg2 == 11/ { @a = count(); }
erlang*:::message-queued /arg1 == 11/ { @b = count(); }
erlang*:::message-receive /arg1 == 11/ { @c = count(); }
END { printa("%@d %@d %@d\n", @a, @b, @c); }

/* expect: 5 5 5 */
