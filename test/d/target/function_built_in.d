/* Built-in functions, called, applied, and where the loader makes an instruction of them. */
/* target: functions.act */
#pragma D option quiet

erlang*:erlang:atom_to_list: { printf("%s %s %s\n", probename, mfa, term2str(targs[0])); }
erlang*:erlang:get/1:entry { @entries[term2str(targs[0])] = count(); }
erlang*:erlang:get/1:return { @returns[term2str(targs[0])] = count(); }
END { printa("entry %s %@d\n", @entries); printa("return %s %@d\n", @returns); }

/* expect: entry erlang:atom_to_list/1 a */
/* expect: return erlang:atom_to_list/1 "a" */
/* expect: entry erlang:atom_to_list/1 b */
/* expect: return erlang:atom_to_list/1 "b" */
/* expect: entry erlang:atom_to_list/1 c */
/* expect: return erlang:atom_to_list/1 "c" */
/* expect: entry erlang:atom_to_list/1 d */
/* expect: return erlang:atom_to_list/1 "d" */
/* expect: entry erlang:atom_to_list/1 e */
/* expect: return erlang:atom_to_list/1 "e" */
/* expect: entry other 1 */
/* expect: entry key 2 */
/* expect: return undefined 1 */
/* expect: return value 2 */
