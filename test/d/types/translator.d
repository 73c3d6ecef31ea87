/* A translator makes members out of a number. */
#pragma D option quiet

struct half { int value; int rest; };
translator struct half < int n > { value = n / 2; rest = n % 2; };
BEGIN { printf("%d %d\n", xlate <struct half> (9).value, xlate <struct half> (9).rest); printf("%d\n", xlate <struct half *> (7)->value); exit(0); }

/* expect: 4 1 */
/* expect: 3 */
