/* A clause may commit and discard several. */
#pragma D option quiet
#pragma D option nspec=3

BEGIN { a = speculation(); b = speculation(); c = speculation(); }
BEGIN { speculate(a); printf("first\n"); }
BEGIN { speculate(b); printf("second\n"); }
BEGIN { speculate(c); printf("third\n"); }
BEGIN { commit(c); discard(b); commit(a); }
BEGIN { exit(0); }

/* expect: third */
/* expect: first */
