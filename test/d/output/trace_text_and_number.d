/* trace() in columns: numbers to the right, texts to the left. */
BEGIN { trace(1); trace("x"); trace((char)2); exit(0); }

/* expect: CPU     ID                    FUNCTION:NAME */
/* expect:   0      1                           :BEGIN           1  x                                   2 */
