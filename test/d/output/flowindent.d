/* -F: no ids, one column for the function. */
/* flags: -F */

BEGIN { exit(0); }

/* expect: CPU FUNCTION */
/* expect:   0 | :BEGIN */
