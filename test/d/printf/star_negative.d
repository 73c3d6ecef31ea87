/* A negative width is to the left. */
#pragma D option quiet

BEGIN { printf("%*d|%*d|%.*d|%.*s|\n", 5, 1, -5, 2, 3, 4, 2, "text"); exit(0); }

/* expect:     1|2    |004|te| */
