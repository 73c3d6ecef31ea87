/*
 * Where the time goes: the stack of each thread, noted many times in each second of its processor time. A process is
 * shown by its registered name, else by its label, which is what proc_lib has set, or its initial call. Threads that
 * run no process are shown together.
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
