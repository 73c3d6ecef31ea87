/* %? is as wide as a pointer in hexadecimal. */
#pragma D option quiet

BEGIN { printf("%?x|%-?x|\n", 255, 255); exit(0); }

/* expect:               ff|ff              | */
