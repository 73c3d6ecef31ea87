/* Clauses of one probe run in their order. */
#pragma D option quiet

BEGIN { printf("1"); }
dtrace:::BEGIN { printf("2"); }
:::BEGIN { printf("3\n"); exit(0); }

/* expect: 123 */
