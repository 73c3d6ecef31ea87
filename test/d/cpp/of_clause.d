/* -C and -D, with a clause of the command line. */
/* flags: -q -C -D N=5 -n 'BEGIN { printf("%d", N); exit(0); }' */

/* expect: 5 */
