/* A disk that is full ends tracing, with a reason. */
/* flags: -o /dev/full */
/* status: 1 */
#pragma D option quiet

BEGIN { printf("x\n"); }

/* expect-err: failed to write: No space left on device */
