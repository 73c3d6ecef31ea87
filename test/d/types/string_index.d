/* A character of a text. */
#pragma D option quiet

BEGIN { s = "hello"; printf("%c%c %d\n", s[0], s[4], s[1]); exit(0); }

/* expect: ho 101 */
