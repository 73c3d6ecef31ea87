/* A probe, its predicate and its action may be words of their own. */
/* flags: -q -n BEGIN '/1/' '{ printf("here\n"); exit(0); }' */



/* expect: here */
