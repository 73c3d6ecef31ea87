/* What changes something outside needs -w. */
/* status: 1 */
#pragma D option quiet

BEGIN { system("true"); exit(0); }

/* expect-err: destructive */
