/* hd, tl, list_length. */
/* target: exits.act */
#pragma D option quiet

erlang*:::process-exit
/is_list(targs[1])/
{
	printf("%d %d %s %d\n", list_length(targs[1]), term2int(hd(targs[1])), tl(targs[1]), list_length(tl(tl(tl(targs[1])))));
}

/* expect: 3 1 [2,3] 0 */
