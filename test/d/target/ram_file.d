/* A file in memory is a port of a driver like any other: it starts, gets commands, answers and stops. */
/* target: in_memory.act */
#pragma D option quiet

erlang$target:::driver-start /copyinstr(arg1) == "ram_file_drv"/ { printf("start\n"); }
erlang$target:::port-open /copyinstr(arg1) == "ram_file_drv"/ { printf("open\n"); }
erlang$target:::port-command /copyinstr(arg2) == "ram_file_drv"/ { printf("%s\n", copyinstr(arg3)); }
erlang$target:::driver-outputv /copyinstr(arg2) == "ram_file_drv"/ { printf("outputv %d\n", arg3); }
erlang$target:::port-exit /copyinstr(arg2) == "ram_file_drv"/ { printf("exit %s\n", copyinstr(arg3)); }
erlang$target:::driver-stop /copyinstr(arg1) == "ram_file_drv"/ { printf("stop\n"); }

/* expect: start */
/* expect: open */
/* expect: command */
/* expect: outputv 15 */
/* expect: command */
/* expect: outputv 5 */
/* expect: command */
/* expect: outputv 8 */
/* expect: exit normal */
/* expect: stop */
