/* A format without conversions. */
#pragma D option quiet

BEGIN { printf("plain\n"); exit(0); }

/* expect: plain */
