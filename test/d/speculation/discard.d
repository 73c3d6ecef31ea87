/* What is discarded is not. */
#pragma D option quiet

BEGIN { self->s = speculation(); }
BEGIN { speculate(self->s); printf("speculated\n"); }
BEGIN { discard(self->s); }
BEGIN { printf("end\n"); exit(0); }

/* expect: end */
