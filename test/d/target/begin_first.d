/* BEGIN comes before the first instruction, END after the last. */
/* target: own_probes.act */
#pragma D option quiet

BEGIN { printf("begin\n"); }
erlang*:::user_trace-s1 { printf("here\n"); }
END { printf("end\n"); }

/* expect: begin */
/* expect: here */
/* expect: end */
