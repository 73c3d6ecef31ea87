/*
 * Where the time goes: the stack that each thread is at, so many times in each second of its processor time. A process goes by its
 * registered name, else by its label, which is what proc_lib has set, or its initial call; threads that run none stand together.
 */
#pragma D option quiet
#pragma D option aggsize=16m
#pragma D option ustackframes=256

profile-${rate}
/regname == NULL/
{
    @samples["no process", ustack()] = count();
}

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
