/* Octal, with a 0 in front under #. */
#pragma D option quiet

BEGIN { printf("%o %#o %5o|%-5o|\n", 8, 8, 8, 8); exit(0); }

/* expect: 10 010    10|10   | */
