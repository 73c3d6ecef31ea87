/* Values of maps, by keys that are atoms, binaries and integers; of a large map too. */
/* target: exits.act */
#pragma D option quiet

erlang*:::process-exit
/is_map(targs[1]) && is_map_key("order", targs[1])/
{
	printf("%d %s %s\n", term2int(map_get("order", targs[1])), map_get("name", targs[1]), map_get(3, targs[1]));
}

erlang*:::process-exit
/is_map(targs[1]) && is_map_key(99, targs[1])/
{
	printf("%d %s\n", term2int(map_get(99, targs[1])), map_get("last", targs[1]));
}

/* expect: 7 <<"ann">> three */
/* expect: 9801 {a,b} */
