/* An assignment has a value. */
#pragma D option quiet

BEGIN { a = b = 3; c = (a += 2) * 2; printf("%d %d %d\n", a, b, c); exit(0); }

/* expect: 5 3 10 */
