/* dirname and basename. */
#pragma D option quiet

BEGIN { printf("%s %s %s %s\n", dirname("/a/b"), dirname("a"), dirname("/a"), basename("/a/b/")); exit(0); }

/* expect: /a . / b */
