/* alloca() is memory of the firing, zeros. */
#pragma D option quiet

BEGIN { this->p = (int *)alloca(16); this->p[1] = 5; printf("%d %d\n", this->p[0], this->p[1]); exit(0); }

/* expect: 0 5 */
