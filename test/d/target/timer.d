/* A timer of the target. */
/* target: long.act */
#pragma D option quiet

tick-5ms { n++; }
tick-5ms /n == 3/ { printf("%d\n", n); exit(0); }

/* expect: 3 */
