/* The subroutine case and its like. */
#pragma D option quiet

BEGIN
{
	printf("%s %s\n", toupper("mixed Case"), tolower("Mixed CASE"));
	exit(0);
}

/* expect: MIXED CASE mixed case */
