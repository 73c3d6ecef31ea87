/* exit ends with END, even from a tick. */
/* status: 4 */
#pragma D option quiet

tick-1ms { exit(4); }
END { printf("end\n"); }

/* expect: end */
