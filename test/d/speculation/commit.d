/* What is committed is printed. */
#pragma D option quiet

BEGIN { self->s = speculation(); }
BEGIN { speculate(self->s); printf("speculated\n"); }
BEGIN { commit(self->s); }
BEGIN { exit(0); }

/* expect: speculated */
