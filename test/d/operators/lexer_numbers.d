/* Numbers as C writes them. */
#pragma D option quiet

BEGIN { printf("%d %d %d %d %d %d\n", 10, 010, 0x10, 10L, 10u, 0XfULL); exit(0); }

/* expect: 10 8 16 10 10 15 */
