/* A command that ends and runs no machine. */
/* flags: -n BEGIN -c "sh -c 'exit 3'" */
/* status: 1 */

/* expect-err: failed to run "sh -c 'exit 3'" under trace: it ended with status 3 before a machine began */
