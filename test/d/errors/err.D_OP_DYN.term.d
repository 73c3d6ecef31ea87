/* A term is not kept in a variable. */
/* target: ../target/messages.act */

erlang*:::process-exit { x = targs[1]; }
