/* A sum of 64 bits. */
#pragma D option quiet

BEGIN { @ = sum(0x7fffffffffffffff); @ = sum(1); exit(0); }

/* expect: */
/* expect:  -9223372036854775808 */
