/* Sizes of expressions, which are not evaluated. */
#pragma D option quiet

int a[10];
BEGIN { x = 1; printf("%d %d %d %d\n", sizeof (a), sizeof (a[0]), sizeof (x++), sizeof ((char)1 + 1)); printf("%d\n", x); exit(0); }

/* expect: 40 4 4 4 */
/* expect: 1 */
