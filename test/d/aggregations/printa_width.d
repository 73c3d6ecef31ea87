/* printa: widths of keys and values; %@ again is the same value. */
#pragma D option quiet

BEGIN
{
	@["key"] = sum(42);
	printa("[%8s|%@8d|%@-8d|%@x]\n", @);
	exit(0);
}

/* expect: [     key|      42|42      |2a] */
