/* Two clauses with -n are one program. */
/* flags: -q -n 'BEGIN { x = 4; }' -n 'BEGIN { printf("%d\n", x); exit(0); }' */



/* expect: 4 */
