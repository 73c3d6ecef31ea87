/* A text over several lines by backslashes. */
#pragma D option quiet

BEGIN { printf("one \
two\n"); exit(0); }

/* expect: one two */
