/* A predicate decides whether its clause runs. */
#pragma D option quiet

BEGIN /0/ { printf("no\n"); }
BEGIN /1/ { printf("yes\n"); exit(0); }

/* expect: yes */
