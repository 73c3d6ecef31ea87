/*
 * Hot functions, with who calls them: ${samples} times in each second of processor time each thread notes where it is. No call is traced.
 * Built-in functions, [gc], [driver NAME] and the like stand for themselves, and for who calls them stands the function that runs.
 */
#pragma D option quiet
#pragma D option aggsize=16m

profile-${samples}
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
