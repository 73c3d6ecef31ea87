/* There is no provider of processes. */
/* target: ../target/messages.act */
/* expect-err: erlang*:module:function:entry */

pid$target:::entry { }
