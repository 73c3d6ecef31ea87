/* An interval in ms. */
#pragma D option quiet

tick-5ms { printf("fired\n"); exit(0); }

/* expect: fired */
