/* bcopy(). */
#pragma D option quiet

char to[8];
BEGIN { bcopy("hello", to, 6); printf("%s %c\n", stringof(to), to[1]); exit(0); }

/* expect: hello e */
