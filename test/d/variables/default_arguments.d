/* -xdefaultargs: what is not given is 0 or the empty text. */
/* flags: -xdefaultargs */
#pragma D option quiet

BEGIN
{
	printf("%d[%s]\n", $1, $$2);
	exit(0);
}

/* expect: 0[] */
