/* process-spawn: the function, as the reader makes its text. */
/* target: calls.act */
#pragma D option quiet

erlang*:::process-spawn /copyinstr(arg1) == "calls:worker/1"/ { printf("%s\n", copyinstr(arg1)); }

/* expect: calls:worker/1 */
/* expect: calls:worker/1 */
/* expect: calls:worker/1 */
