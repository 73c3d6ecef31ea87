/* The slowest and the fastest timers there are. */
#pragma D option quiet

tick-4611686018427387904ns, profile-1hz { }
wall-200us, tick-5000hz { printf("fired\n"); exit(0); }

/* expect: fired */
