/* Pointers into variables of the script, and arithmetic with them. */
#pragma D option quiet

int a[4];
BEGIN { a[0] = 10; a[1] = 11; a[3] = 13; p = &a[0]; printf("%d %d %d %d\n", *p, *(p + 1), p[3], &a[3] - p); *(p + 2) = 12; printf("%d\n", a[2]); exit(0); }

/* expect: 10 11 13 3 */
/* expect: 12 */
