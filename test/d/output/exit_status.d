/* The status of exit is the command's. */
/* status: 7 */
#pragma D option quiet

BEGIN { exit(7); }

/* expect: */
