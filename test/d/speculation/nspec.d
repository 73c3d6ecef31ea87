/* nspec allows more. */
/* flags: -x nspec=2 */
#pragma D option quiet

BEGIN { x = speculation(); y = speculation(); printf("%d %d\n", x != 0, y != 0); exit(0); }

/* expect: 1 1 */
