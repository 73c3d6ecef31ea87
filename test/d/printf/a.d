/* %a and %A show addresses. */
#pragma D option quiet

BEGIN { printf("%a %A\n", 4096, (void *)8192); exit(0); }

/* expect: 0x1000 0x2000 */
