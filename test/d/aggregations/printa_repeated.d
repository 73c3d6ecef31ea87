/* A value may be shown more than once. */
#pragma D option quiet

BEGIN { @a = sum(255); printa("%@d %@x %@8d|\n", @a); exit(0); }

/* expect: 255 ff      255| */
