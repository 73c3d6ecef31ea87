/* What is read and written of a table, and how many objects are looked at for that. */
/* target: events.act */
#pragma D option quiet

ets-write /copyinstr(arg1) == "few"/ { printf("%s %d %d\n", copyinstr(arg3), arg4, arg5); }
ets-lookup /copyinstr(arg1) == "few"/ { @found[copyinstr(arg3)] = sum(arg4); @examined[copyinstr(arg3)] = sum(arg5); }
END { printa("%s %@d of %@d\n", @found, @examined); }

/* expect: insert 20 20 */
/* expect: delete 1 19 */
/* expect: match_object 1 of 20 */
/* expect: lookup 3 of 3 */
