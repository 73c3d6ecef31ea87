/* arg1 of ERROR is the epid of the clause, arg2 the action within the clause, arg4 the kind and arg5 the address. */
#pragma D option quiet

BEGIN { mine = epid; trace(1); }
BEGIN { this->mine = epid; trace(2); trace(3); trace(*(int *)8); }
ERROR { printf("\n%d %d action %d kind %d address %d\n", mine, arg1, arg2, arg4, arg5); exit(0); }

/* expect: 1 */
/* expect: 1 2 action 3 kind 1 address 8 */
/* expect-err: error on enabled probe ID 2 (ID 1: dtrace:::BEGIN): invalid address (0x8) in action #3 */
