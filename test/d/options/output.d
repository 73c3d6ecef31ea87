/* -o adds to a file. */
/* flags: -o /dev/stdout */
#pragma D option quiet

BEGIN { printf("to standard output, which is a file as well\n"); exit(0); }

/* expect: to standard output, which is a file as well */
