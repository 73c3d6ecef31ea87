/* speculate() in an if. */
#pragma D option quiet

BEGIN { self->s = speculation(); }
BEGIN { if (self->s) { speculate(self->s); printf("kept\n"); } }
BEGIN { commit(self->s); }
BEGIN { exit(0); }

/* expect: kept */
