/* {order, _, Amount} with an Amount over 100. */
/* target: exits.act */
#pragma D option quiet

erlang*:::process-exit
/is_tuple(targs[1]) && size(targs[1]) == 3 && element(1, targs[1]) == "order" && element(3, targs[1]) > 100/
{
	printf("%s\n", targs[1]);
}

/* expect: {order,7,250} */
