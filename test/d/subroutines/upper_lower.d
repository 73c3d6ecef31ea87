/* Letters only. */
#pragma D option quiet

BEGIN { printf("%s %s\n", toupper("a1-Z"), tolower("A1-z")); exit(0); }

/* expect: A1-Z a1-z */
