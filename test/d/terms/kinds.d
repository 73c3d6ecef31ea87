/* What a term is. */
/* target: exits.act */
#pragma D option quiet

erlang*:::process-exit
{
	printf("%d%d%d%d%d%d%d%d%d%d\n", is_atom(targs[1]), is_integer(targs[1]), is_float(targs[1]), is_tuple(targs[1]),
	    is_list(targs[1]), is_map(targs[1]), is_binary(targs[1]), is_pid(targs[1]), is_port(targs[1]), is_function(targs[1]));
}

erlang*:::process-exit { @[is_pid(targs[0])] = count(); }

/* expect: 0001000000 */
/* expect: 0001000000 */
/* expect: 0000010000 */
/* expect: 0000010000 */
/* expect: 0000100000 */
/* expect: 1000000000 */
/* expect: 0100000000 */
/* expect: 1000000000 */
/* expect: */
/* expect:         1                8 */
