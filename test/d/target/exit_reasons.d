/* process-exit: the reason. */
/* target: calls.act */
#pragma D option quiet

erlang*:::process-exit /strstr(copyinstr(arg1), "{done,") != NULL/ { printf("%s\n", copyinstr(arg1)); }

/* expect: {done,1} */
/* expect: {done,2} */
/* expect: {done,3} */
