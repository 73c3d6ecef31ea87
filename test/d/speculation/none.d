/* A clause ends where it speculates without a speculation; what never was cannot be committed. */
#pragma D option quiet
#pragma D option nspec=2

BEGIN { n = 1; speculate(0); n = 2; }
BEGIN { printf("%d\n", n); s = speculation(); discard(s); }
BEGIN { speculate(s); n = 3; }
BEGIN { speculate(-1); n = 4; }
BEGIN { printf("%d\n", n); } BEGIN { commit(0); discard(0); commit(s); discard(s); n = 5; } BEGIN { printf("%s\n", n == 5 ? "harmless" : "not"); }
BEGIN { commit(3); n = 6; }
BEGIN { discard(1024); n = 6; }
ERROR { printf("%d\n", arg4 == DTRACEFLT_ILLOP); }
BEGIN { exit(0); }

/* expect: 1 */
/* expect: 1 */
/* expect: harmless */
/* expect: 1 */
/* expect: 1 */
/* expect-err: illegal operation */
