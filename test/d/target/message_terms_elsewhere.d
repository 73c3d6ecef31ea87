/* The message itself is there at probes of messages alone. */
/* target: messages.act */
/* status: 1 */
#pragma D option quiet

erlang*:::process-exit /is_tuple(msg)/ { exit(0); }

/* expect-err: msg may not be referenced: erlang*:::process-exit has none, only message-send,message-queued,message-receive have */
