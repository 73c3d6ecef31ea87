/* freopen() after speculate(). */

BEGIN { self->s = speculation(); speculate(self->s); freopen("x"); }
