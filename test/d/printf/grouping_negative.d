/* Thousands apart, of negative numbers too. */
#pragma D option quiet

BEGIN { printf("%'d %'d %'u %'15d|\n", -1234567, 999, 1000, 12345678); exit(0); }

/* expect: -1,234,567 999 1,000      12,345,678| */
