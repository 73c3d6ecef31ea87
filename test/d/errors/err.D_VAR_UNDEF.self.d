/* A variable of a thread that nobody assigned. */

BEGIN { trace(self->x); }
