/* With columns: printf stands behind them, on the line of its firing. */
BEGIN { printf("one %d", 1); printf(" two"); exit(0); }

/* expect: CPU     ID                    FUNCTION:NAME */
/* expect:   0      1                           :BEGIN one 1 two */
