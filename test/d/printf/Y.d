/* %Y is a time as in 2026 Jan  2 03:04:05. */
#pragma D option quiet

BEGIN { printf("%Y|%Y\n", 0, 1000000000000000000); exit(0); }

/* expect: 1970 Jan  1 00:00:00|2001 Sep  9 01:46:40 */
