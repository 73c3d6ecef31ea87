/* The first status counts. */
/* status: 4 */
#pragma D option quiet

BEGIN { exit(4); }
END { printf("end\n"); }

/* expect: end */
