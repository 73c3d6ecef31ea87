/* targs of an exception: its class and its reason; a throw that nobody catches is an error. */
/* target: raises.act */
#pragma D option quiet

erlang*:raises:fails:exception { printf("%s %s %s\n", copyinstr(arg1), term2str(targs[0]), term2str(targs[1])); }
erlang*:raises:fails:return { printf("%s\n", term2str(targs[0])); }

/* expect: raises:fails/1 throw thrown */
/* expect: raises:fails/1 exit {why,1} */
/* expect: raises:fails/1 error badarith */
/* expect: fine */
/* expect: raises:fails/1 error {nocatch,alone} */
