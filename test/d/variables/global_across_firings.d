/* A global lives from firing to firing. */
#pragma D option quiet

BEGIN { n = 1; }
tick-1ms { n++; }
tick-1ms /n == 4/ { printf("%d\n", n); exit(0); }

/* expect: 4 */
