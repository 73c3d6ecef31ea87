/* NULL as a text. */
#pragma D option quiet

BEGIN { printf("%s|%8s|%-8s|\n", strstr("a", "b"), strchr("a", 98), strstr("a", "b")); exit(0); }

/* expect: (null)|  (null)|(null)  | */
