/* %C shows what cannot be printed as an escape. */
#pragma D option quiet

BEGIN { printf("%C %C %C %C\n", 'a', '\n', '\t', '\001'); exit(0); }

/* expect: a \n \t \001 */
