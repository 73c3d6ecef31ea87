/* More than scratchsize is by itself. */
#pragma D option quiet
#pragma D option scratchsize=1m

BEGIN { this->p = (char *)alloca(1000000); this->p[999999] = 'x'; printf("%c\n", this->p[999999]); exit(0); }

/* expect: x */
