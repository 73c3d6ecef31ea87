/* A fault ends its clause; the next clause runs. */
#pragma D option quiet

BEGIN { x = *(int *)8; printf("never\n"); }
BEGIN { printf("on\n"); exit(0); }

/* expect: on */
/* expect-err: invalid address (0x8) */
