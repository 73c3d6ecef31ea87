/* A process has its number in the name of its provider. */
/* target: ../target/messages.act */
/* expect-err: erlang* */

erlang:::process-spawn { }
