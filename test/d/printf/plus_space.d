/* A sign or a blank in front of numbers that are not negative. */
#pragma D option quiet

BEGIN { printf("%+d|% d|%+d|% d|%+5d|\n", 1, 2, -3, -4, 5); exit(0); }

/* expect: +1| 2|-3|-4|   +5| */
