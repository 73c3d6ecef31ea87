/* flags: -xempty */
/* A script without clauses has nothing to wait for. */
/* status: 1 */

/* expect-err: no probes matched */
