/* scratchsize is what alloca() gives a clause in all; texts have room of their own. */
#pragma D option quiet
#pragma D option scratchsize=16

BEGIN { n = 17; this->p = alloca(n); printf("not reached\n"); }
BEGIN { this->p = alloca(n - 8); printf("9, "); this->q = alloca(n - 9); printf("not reached\n"); }
BEGIN { this->p = alloca(n - 8); this->q = alloca(7); this->s = strjoin("a text ", "of more bytes"); n++; printf("%s\n", this->s); }
BEGIN { this->p = alloca(16); printf("%d\n", n); exit(0); }
ERROR { printf("%s\n", arg4 == DTRACEFLT_NOSCRATCH ? "no scratch" : "else"); }

/* expect: no scratch */
/* expect: no scratch */
/* expect: a text of more bytes */
/* expect: 18 */
/* expect-err: out of scratch space */
