/* $$0 is the script. */
#pragma D option quiet

BEGIN { printf("%d\n", strlen($$0) > 3); exit(0); }

/* expect: 1 */
