/* A bad address fires ERROR with the address. */
#pragma D option quiet

BEGIN { x = *(int *)0; printf("never\n"); }
BEGIN { exit(0); }

/* expect: */
/* expect-err: error on enabled probe ID */
/* expect-err: invalid address (0x0) */
