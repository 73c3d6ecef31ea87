/* A width of printa() that is a key; negative: to the left. */
#pragma D option quiet

BEGIN { @[5, 1] = sum(1); @[-5, 2] = sum(2); printa("[%*d]\n", @); exit(0); }

/* expect: [    1] */
/* expect: [2    ] */
