/* Several actions of a clause are on one line. */

BEGIN { trace(1); trace(2); exit(0); }
END { trace(3); }

/* expect: CPU     ID                    FUNCTION:NAME */
/* expect:   0      1                           :BEGIN           1          2 */
/* expect:   0      2                             :END           3 */
