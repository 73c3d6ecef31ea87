/* ERROR tells clause, action and kind. */
#pragma D option quiet

BEGIN { x = 0; y = 1 / x; }
ERROR { printf("kind %d\n", arg4); exit(0); }

/* expect: kind 4 */
/* expect-err: divide-by-zero */
