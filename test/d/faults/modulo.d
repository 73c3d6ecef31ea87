/* The remainder by zero too. */
#pragma D option quiet

BEGIN { x = 0; y = 1 % x; }
BEGIN { exit(0); }

/* expect: */
/* expect-err: divide-by-zero */
