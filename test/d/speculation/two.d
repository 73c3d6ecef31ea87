/* Two at once; what is committed comes in the order of commits. */
/* flags: -x nspec=2 */
#pragma D option quiet

BEGIN { x = speculation(); y = speculation(); }
BEGIN { speculate(x); printf("first\n"); }
BEGIN { speculate(y); printf("second\n"); }
BEGIN { discard(x); }
BEGIN { commit(y); }
BEGIN { exit(0); }

/* expect: second */
