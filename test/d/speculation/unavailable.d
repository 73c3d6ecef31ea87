/* More speculations than nspec allows. */
#pragma D option quiet

BEGIN { x = speculation(); y = speculation(); printf("%d %d\n", x != 0, y); exit(0); }

/* expect: 1 0 */
/* expect-err: vmtrace: 1 failed speculation (no speculative buffer available) */
