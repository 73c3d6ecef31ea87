/* Names come and go, with unregister and with the process. */
/* target: events.act */
#pragma D option quiet

name-register /copyinstr(arg0) == "given" || copyinstr(arg0) == "left"/ { printf("%s %d\n", copyinstr(arg0), arg1 == arg2); }
name-unregister /copyinstr(arg0) == "given" || copyinstr(arg0) == "left"/ { printf("%s %d %d\n", copyinstr(arg0), arg1 == arg2, arg3); }

/* expect: given 1 */
/* expect: given 1 0 */
/* expect: left 1 */
/* expect: left 1 1 */
