/* The standard deviation. */
#pragma D option quiet

BEGIN { @a = stddev(2); @a = stddev(4); @a = stddev(4); @a = stddev(4); @a = stddev(5); @a = stddev(5); @a = stddev(7); @a = stddev(9); printa("%@d\n", @a); exit(0); }

/* expect: 2 */
