/* system() after speculate(). */

BEGIN { self->s = speculation(); speculate(self->s); system("true"); }
