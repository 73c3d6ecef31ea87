/* An interval in ns. */
#pragma D option quiet

tick-5000000ns { printf("fired\n"); exit(0); }

/* expect: fired */
