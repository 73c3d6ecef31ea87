/* Declared types cut what is assigned. */
#pragma D option quiet

char c;
unsigned char u;
short s;
BEGIN { c = 300; u = 300; s = 70000; printf("%d %d %d\n", c, u, s); exit(0); }

/* expect: 44 44 4464 */
