/* From the last such character. */
#pragma D option quiet

BEGIN { printf("%s %s\n", strrchr("a/b/c", '/'), strchr("a/b/c", '/')); exit(0); }

/* expect: /c /b/c */
