/* Clocks do not stand still or go back. */
#pragma D option quiet

BEGIN { t = timestamp; w = walltimestamp; v = vtimestamp; }
tick-1ms { printf("%d %d %d\n", timestamp > t, walltimestamp >= w, vtimestamp >= v); exit(0); }

/* expect: 1 1 1 */
