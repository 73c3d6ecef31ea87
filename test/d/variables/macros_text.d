/* $$1 is a text, $1 what it looks like. */
/* args: 41 word */
#pragma D option quiet

BEGIN { printf("%d %s %s\n", $1 + 1, $$1, $$2); exit(0); }

/* expect: 42 41 word */
