/* Numbers in other bases. */
#pragma D option quiet

BEGIN { printf("%s %s %s %s\n", lltostr(-12), lltostr(255, 16), lltostr(8, 8), lltostr(5, 2)); exit(0); }

/* expect: -12 0xff 010 101 */
