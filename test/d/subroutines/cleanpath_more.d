/* cleanpath. */
#pragma D option quiet

BEGIN { printf("%s %s %s\n", cleanpath("/a/./b/../c"), cleanpath("a//b/"), cleanpath("/../x")); exit(0); }

/* expect: /a/c a/b /x */
