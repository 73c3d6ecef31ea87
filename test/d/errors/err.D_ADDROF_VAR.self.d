/* The address of a variable of a thread. */

BEGIN { self->x = 1; y = &self->x; }
