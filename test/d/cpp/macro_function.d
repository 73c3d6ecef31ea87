/* Macros with parameters. */
/* flags: -C */
#pragma D option quiet

#define SQUARE(x) ((x) * (x))
BEGIN { printf("%d %d\n", SQUARE(3 + 1), __LINE__); exit(0); }

/* expect: 16 6 */
