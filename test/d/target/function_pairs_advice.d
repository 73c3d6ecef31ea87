/* The probes of all calls do not make pairs: which ones do is told. */
/* target: calls.act */
#pragma D option quiet

erlang*:::global-function-entry /copyinstr(arg1) == "calls:hot/1"/ { self->began = timestamp; }
erlang*:::function-return /self->began/ { self->began = 0; }

/* expect-err: erlang*:MODULE:FUNCTION:entry and :return fire once for each call */
