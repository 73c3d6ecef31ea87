/* It is looked up among the arguments of the firing at hand: the same process has the same text. */
/* target: messages.act */
#pragma D option quiet

erlang*:::message-send { receiver = arg1; }
erlang*:::message-queued /receiver != 0/ { printf("%d\n", copyinstr(receiver) == copyinstr(arg0)); exit(0); }

/* expect: 1 */
