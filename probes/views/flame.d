/*
 * Where processes spend their time: the stack that each scheduler is at, so many times a second. A process goes by its registered
 * name, else by its label, which is what proc_lib has set, or its initial call.
 */
#pragma D option quiet
#pragma D option aggsize=16m
#pragma D option ustackframes=256

profile-${rate}
/regname != NULL && index(regname, "<") == 0/
{
    @samples[label, ustack()] = count();
}

profile-${rate}
/regname != NULL && index(regname, "<") != 0/
{
    @samples[regname, ustack()] = count();
}

tick-${duration}ns { exit(0); }
