/* self-> lives from firing to firing of a thread. */
#pragma D option quiet

BEGIN { self->x = 5; exit(0); }
END { printf("%d\n", self->x); }

/* expect: 5 */
