/* The message itself, a term, where it is sent, queued and received. */
/* target: messages.act */
#pragma D option quiet

erlang*:::message-send, erlang*:::message-queued, erlang*:::message-receive
/is_tuple(msg) && size(msg) == 10 && term2int(element(msg, 1)) > 3/
{
	@[probename, term2str(element(msg, 10))] = sum(term2int(element(msg, 1)));
}

END { printa("%s %s: %@d\n", @); }

/* expect: message-queued j: 9 */
/* expect: message-receive j: 9 */
/* expect: message-send j: 9 */
