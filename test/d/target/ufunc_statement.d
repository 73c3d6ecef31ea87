/* ufunc() as a statement traces the name in a column of 50, quiet or not. */
/* target: reverse.act */
#pragma D option quiet

erlang*:lists:reverse/1:entry /umod(ucaller) == "reverse"/ { ufunc(ucaller); printf("|\n"); exit(0); }

/* expect:   reverse:work/1                                    | */
