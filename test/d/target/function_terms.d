/* targs are the arguments at entry, and the value at return. */
/* target: functions.act */
#pragma D option quiet

erlang*:functions:pair:entry
/is_tuple(targs[1]) && term2int(element(targs[1], 3)) > 70/ { printf("%d %s\n", term2int(targs[0]), term2str(targs[1])); }
erlang*:functions:pair:return /term2int(targs[0]) > 80/ { printf("%s = %d\n", copyinstr(arg1), term2int(targs[0])); }

/* expect: 8 {order,8,80} */
/* expect: 9 {order,9,90} */
/* expect: functions:pair/2 = 90 */
