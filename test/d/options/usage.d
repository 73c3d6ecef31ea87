/* Wrong usage: status 2. */
/* flags: -J */
/* status: 2 */

BEGIN { exit(0); }

/* expect-err: illegal option -- J */
/* expect-err: usage: vmtrace */
