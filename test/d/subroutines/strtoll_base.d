/* Numbers out of texts. */
#pragma D option quiet

BEGIN { printf("%d %d %d %d\n", strtoll("42"), strtoll("ff", 16), strtoll("0x1F", 16), strtoll("-12abc")); exit(0); }

/* expect: 42 255 31 -12 */
