/* A sum may be negative. */
#pragma D option quiet

BEGIN { @ = sum(3); @ = sum(-10); exit(0); }

/* expect: */
/* expect:                -7 */
