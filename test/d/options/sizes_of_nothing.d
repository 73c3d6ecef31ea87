/* Sizes that hold nothing are refused when tracing begins. */
/* flags: -b 59 */
/* status: 1 */
BEGIN { exit(0); }

/* expect-err: could not enable tracing: Enabling exceeds size of buffer */
