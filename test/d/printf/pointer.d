/* Pointers as numbers. */
#pragma D option quiet

BEGIN { printf("%d %x %p\n", (int *)16, (int *)17, (int *)18); exit(0); }

/* expect: 16 11 12 */
