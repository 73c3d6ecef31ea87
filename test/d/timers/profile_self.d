/* profile-N without a target fires in one thread. */
#pragma D option quiet

profile-10ms { printf("%s %s\n", probeprov, probename); exit(0); }

/* expect: profile profile-10ms */
