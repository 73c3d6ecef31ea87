/* Arguments beyond ten. */
#pragma D option quiet

BEGIN { printf("%d%d%d%d%d%d%d%d%d%d%d%d\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12); exit(0); }

/* expect: 123456789101112 */
