/* %i is %d. */
#pragma D option quiet

BEGIN { printf("%i %5i|%-5i|%05i\n", -3, 4, 5, 6); exit(0); }

/* expect: -3     4|5    |00006 */
