/* -l with a script: the probes that its clauses wait for, and which descriptions match none. */
/* target: own_probes.act */
/* flags: -ql */
/* status: 1 */

dtrace:::BEGIN, erlang*:::nosuch { trace(arg0); }
tick-3s, erlang*:::message-sent / pid != 0 / { trace(1); }

/* expect:    ID   PROVIDER            MODULE                          FUNCTION NAME */
/* expect:     1     dtrace                                                     BEGIN */
/* expect: 900000    profile                                                     tick-3s */
/* expect-err: failed to match erlang*:::nosuch: No probe matches description */
/* expect-err: failed to match erlang*:::message-sent: No probe matches description */
