/* An interval in usec. */
#pragma D option quiet

tick-5000usec { printf("fired\n"); exit(0); }

/* expect: fired */
