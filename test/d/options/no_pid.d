/* A process that is not there. */
/* flags: -p 999999999 */
/* status: 1 */

BEGIN { exit(0); }

/* expect-err: failed to grab pid 999999999 */
