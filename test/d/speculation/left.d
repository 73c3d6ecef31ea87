/* What is neither is not printed. */
#pragma D option quiet

BEGIN { self->s = speculation(); }
BEGIN { speculate(self->s); printf("speculated\n"); }
BEGIN { printf("end\n"); exit(0); }

/* expect: end */
