/* A key of a map is an integer or a string. */
/* target: ../target/messages.act */

erlang*:::process-exit { x = term2int(map_get(targs[0], targs[1])); }
