/* An array of char is a text. */
#pragma D option quiet

char c[8];
BEGIN { c[0] = 'h'; c[1] = 'i'; printf("%s %d\n", stringof(c), strlen(c)); exit(0); }

/* expect: hi 2 */
