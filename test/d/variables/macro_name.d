/* $1 that is a name is one. */
/* args: abc */
#pragma D option quiet

BEGIN { abc = 7; printf("%d\n", $1); exit(0); }

/* expect: 7 */
