/* -F goes back by as much as it has gone in: also after functions that end in calls, and after exceptions. */
/* flags: -F -c "{vmrun} +S 1 test/d/target/flow.act" */

erlang*:flow:f_*: {}

/* expect: CPU FUNCTION */
/* expect:   1  -> f_first */
/* expect:   1    -> f_second */
/* expect:   1      -> f_third */
/* expect:   1      <- f_third */
/* expect:   1    <- f_second */
/* expect:   1  <- f_first */
/* expect:   1  -> f_fails */
/* expect:   1    -> f_throws */
/* expect:   1    <- f_throws */
/* expect:   1  <- f_fails */
/* expect:   1  -> f_third */
/* expect:   1  <- f_third */
/* expect-err: script */
