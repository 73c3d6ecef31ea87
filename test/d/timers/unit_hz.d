/* An interval in hz. */
#pragma D option quiet

tick-200hz { printf("fired\n"); exit(0); }

/* expect: fired */
