/* Probes whose arguments are of different types. */
/* target: ../target/messages.act */

erlang*:::process-spawn, erlang*:::gc_minor-start { trace(args[1]); }
