/* An argument that the probe does not have. */
/* target: ../target/messages.act */

erlang*:::process-spawn { trace(args[9]); }
