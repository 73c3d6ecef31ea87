/* Values without a sign. */
#pragma D option quiet

BEGIN { @m = max((unsigned long long)-1); printa("%@u\n", @m); exit(0); }

/* expect: 18446744073709551615 */
