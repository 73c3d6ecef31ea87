/* -p: a machine that runs already. */
/* attach: forever.act */
#pragma D option quiet

erlang$target:::user_trace-i4s4 { printf("%d %s\n", arg3, copyinstr(arg6)); exit(0); }

/* expect: 5 text */
