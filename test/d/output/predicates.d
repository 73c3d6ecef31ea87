/* Predicates choose clauses. */
#pragma D option quiet

BEGIN /0/ { printf("no\n"); }
BEGIN /1/ { printf("yes\n"); }
BEGIN /pid == $pid/ { exit(0); }

/* expect: yes */
