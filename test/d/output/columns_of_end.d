/* END has a line of its own; an empty clause has one too. */

BEGIN { exit(0); }
END { }

/* expect: CPU     ID                    FUNCTION:NAME */
/* expect:   0      1                           :BEGIN */
/* expect:   0      2                             :END */
/* expect-err: matched 2 probes */
