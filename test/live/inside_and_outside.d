/* Of the processes that the program marks by their names alone: what its handle does is seen outside, and what the machine does at its end. */
erlang*:::message-send /strstr(regname, "worker") != NULL/ { @sends[regname, arg2] = count(); }
erlang*:::process-spawn /strstr(regname, "worker") != NULL/ { @spawns[regname] = count(); }
erlang*:inside_and_outside:called:entry { @calls[regname] = count(); }
