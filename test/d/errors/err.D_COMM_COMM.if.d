/* commit() in both branches is one too many behind them. */

BEGIN { self->s = speculation(); if (1) { commit(self->s); } else { commit(self->s); } commit(self->s); }
