/* An aggregation after speculate(). */

BEGIN { self->s = speculation(); speculate(self->s); @ = count(); }
