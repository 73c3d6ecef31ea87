/* Escapes of C in formats. */
#pragma D option quiet

BEGIN { printf("a\tb\x41\101\\\"\n"); exit(0); }

/* expect: a	bAA\" */
