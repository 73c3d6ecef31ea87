/* A value that is none. */
/* flags: -x aggsortpos=many */
/* status: 1 */

BEGIN { exit(0); }

/* expect-err: Invalid value for specified option */
