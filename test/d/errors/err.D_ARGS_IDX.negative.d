/* A negative number of an argument. */
/* target: ../target/messages.act */

erlang*:::process-spawn { trace(args[-1]); }
