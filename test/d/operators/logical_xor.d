/* ^^ of D. */
#pragma D option quiet

BEGIN { x = 5; printf("%d%d%d%d\n", x ^^ 0, 0 ^^ x, x ^^ 2, 0 ^^ 0); exit(0); }

/* expect: 1100 */
