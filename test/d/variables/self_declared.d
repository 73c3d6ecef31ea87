/* A declared variable of a thread. */
#pragma D option quiet

self int n;
self string s;
BEGIN { self->n = 3; self->s = "x"; }
BEGIN { printf("%d%s\n", self->n, self->s); exit(0); }

/* expect: 3x */
