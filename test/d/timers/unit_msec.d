/* An interval in msec. */
#pragma D option quiet

tick-5msec { printf("fired\n"); exit(0); }

/* expect: fired */
