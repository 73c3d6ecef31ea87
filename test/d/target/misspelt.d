/* Misspelt probes and functions are answered with those that the machine has. */
/* attach: forever.act */
/* status: 1 */
#pragma D option quiet

erlang*:::mesage-send { n++; }
forevr:loop:entry { n++; }
forever:loop/7:entry { n++; }
erlang*:::message-send { printf("%s", arg0); }

/* expect-err: :6:1: error: probe description erlang*:::mesage-send does not match any probes, did you mean erlang*:::message-send? */
/* expect-err: :7:1: error: probe description forevr:loop:entry does not match any probes, did you mean forever:loop:entry? */
/* expect-err: :8:1: error: probe description forever:loop/7:entry does not match any probes, did you mean forever:loop/1:entry? */
/* expect-err: , did you mean copyinstr(arg0) or args[0]? */
