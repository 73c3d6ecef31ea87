/* A machine goes on when tracing ends. */
/* attach: forever.act */
#pragma D option quiet

BEGIN { printf("%d\n", pid == $target); exit(0); }

/* expect: 1 */
