/*
 * Hot functions, with who calls them, by looking ${samples} times a second at what each scheduler runs: no call is traced.
 * A sample is taken where a process next stops, so a function that makes no calls is seen at the one that does.
 */
#pragma D option quiet
#pragma D option aggsize=16m

profile-${samples}
/regname != NULL/
{
	@samples[ustack(2)] = count();
}

tick-${duration}ns { exit(0); }

tick-${interval}ns,
END
{
	printa("%k%@8d samples\n", @samples);
	trunc(@samples);
}
