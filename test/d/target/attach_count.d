/* -p: counted until enough have come; END has them. */
/* attach: forever.act */
#pragma D option quiet

erlang*:::user_trace-i4s4 { @ = count(); n++; }
erlang*:::user_trace-i4s4 /n == 3/ { exit(0); }
END { printf("%d\n", n >= 3); clear(@); printa("%@d\n", @); }

/* expect: 1 */
/* expect: 0 */
