/* element() takes its arguments in Erlang's order, and the other way round. */
/* target: exits.act */
#pragma D option quiet

erlang*:::process-exit
/is_tuple(targs[1])/
{
	printf("%s %d\n", element(1, targs[1]), element(1, targs[1]) == element(targs[1], 1));
}

/* expect: order 1 */
/* expect: order 1 */
