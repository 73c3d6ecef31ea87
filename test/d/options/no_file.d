/* A script that is not there. */
/* flags: -s /no/such/file.d */
/* status: 1 */



/* expect-err: failed to open /no/such/file.d: No such file or directory */
