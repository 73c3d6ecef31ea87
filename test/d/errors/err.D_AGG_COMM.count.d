/* An aggregation after commit(). */

BEGIN { self->s = speculation(); commit(self->s); @ = count(); }
