/* ufunc() as a statement traces the name. */
/* target: reverse.act */
#pragma D option quiet

erlang*:lists:reverse/1:entry /umod(ucaller) == "reverse"/ { ufunc(ucaller); exit(0); }

/* expect: reverse:work/1 */
