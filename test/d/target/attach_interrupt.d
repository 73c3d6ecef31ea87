/* The same of a machine. */
/* attach: forever.act */
/* interrupt: ready */
#pragma D option quiet

int said;

BEGIN { @ = sum(7); }
erlang*:::user_trace-i4s4 /!said/ { said = 1; printf("ready\n"); }
END { printf("end\n"); }

/* expect: ready */
/* expect: */
/* expect: end */
/* expect: */
/* expect:                 7 */
