/* A function fires in whatever way it is called; those for guards have no probes. */
/* target: called.act */
/* flags: -Z */
#pragma D option quiet

erlang*:called:f:entry,
erlang*:erlang:is_atom:entry,
erlang*:erlang:atom_to_list:entry
{
	@[probemod, probefunc, mfa] = count();
}

END { printa("%s %s %s %@d\n", @); }

/* expect: erlang atom_to_list erlang:atom_to_list/1 2 */
/* expect: called f called:f/1 10 */
