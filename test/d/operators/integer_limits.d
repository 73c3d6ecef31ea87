/* The ends of 64 bits. */
#pragma D option quiet

BEGIN { x = 0x7fffffffffffffff; printf("%d %d %u\n", x, x + 1, x + 1); y = 0xffffffffffffffff; printf("%d %u\n", y, y); exit(0); }

/* expect: 9223372036854775807 -9223372036854775808 9223372036854775808 */
/* expect: 18446744073709551615 18446744073709551615 */
