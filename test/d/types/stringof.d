/* stringof and string casts. */
#pragma D option quiet

BEGIN
{
	printf("%s %s\n", stringof("a"), (string)"b");
	exit(0);
}

/* expect: a b */
