/* Which keys a map has. */
/* target: exits.act */
#pragma D option quiet

erlang*:::process-exit
/is_map(targs[1])/
{
	printf("%d %d %d %d\n", is_map_key("order", targs[1]), is_map_key("name", targs[1]), is_map_key(100, targs[1]),
	    is_map_key("an atom that there is not", targs[1]));
}

/* expect: 1 1 0 0 */
/* expect: 0 0 1 0 */
