/* A tick fires again and again. */
#pragma D option quiet

tick-5ms { n++; }
tick-5ms /n == 3/ { printf("%d\n", n); exit(0); }

/* expect: 3 */
