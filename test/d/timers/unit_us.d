/* An interval in us. */
#pragma D option quiet

tick-5000us { printf("fired\n"); exit(0); }

/* expect: fired */
