/* An enumerator is an integer. */
#pragma D option quiet

enum e { A, B = 7, C };
BEGIN { printf("%d %d %d\n", A, B, C); exit(0); }

/* expect: 0 7 8 */
