/* -n: the description is told with what it matched. */
/* flags: -n 'BEGIN { exit(0); }' */



/* expect: CPU     ID                    FUNCTION:NAME */
/* expect:   0      1                           :BEGIN */
/* expect-err: vmtrace: description 'BEGIN { exit(0); }' matched 1 probe */
