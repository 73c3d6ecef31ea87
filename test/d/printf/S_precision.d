/* %S with escapes. */
#pragma D option quiet

BEGIN { printf("%S|%S\n", "a\tb\"c\\", "\001\377"); exit(0); }

/* expect: a\tb\"c\\|\001\377 */
