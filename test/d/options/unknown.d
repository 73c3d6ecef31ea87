/* An option that nobody knows. */
/* flags: -x nosuchoption */
/* status: 1 */

BEGIN { exit(0); }

/* expect-err: nosuchoption */
