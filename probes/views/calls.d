/*
 * Functions that take the most time, with their callers. ${samples} times in each second of its processor time,
 * each thread notes where it is. No call is traced. Built-in functions, [gc], [driver NAME] and similar activities
 * are listed themselves; the function that runs counts as their caller.
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
