/* The message of a fault counts actions within their clause. */
#pragma D option quiet

BEGIN { x = 0; trace(1); }
BEGIN { trace(2); trace(3); trace(4 / x); }
BEGIN { exit(0); }

/* expect: 1 */
/* expect-err: divide-by-zero in action #3 */
