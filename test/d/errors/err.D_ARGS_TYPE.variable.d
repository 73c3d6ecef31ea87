/* The number of an argument must be a constant. */
/* target: ../target/messages.act */

int x;
erlang*:::process-spawn { trace(args[x]); }
