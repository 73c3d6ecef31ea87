/* Characters, of more than one byte too. */
#pragma D option quiet

BEGIN { printf("%d %d %d %d %x\n", 'a', '\n', '\0', '\x41', 'ab'); exit(0); }

/* expect: 97 10 0 65 6162 */
