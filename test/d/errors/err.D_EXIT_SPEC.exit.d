/* exit while speculating. */

BEGIN { self->s = speculation(); speculate(self->s); exit(0); }
