/* A number that is no argument's and no address of the script's is a bad address. */
/* target: messages.act */
#pragma D option quiet

erlang*:::process-spawn { this->p = 77; trace(copyinstr(this->p)); }
ERROR { printf("fault %d 0x%x\n", arg4, arg5); exit(0); }

/* expect: fault 1 0x4d */
/* expect-err: invalid address (0x4d) */
