/* %S writes as in C. */
#pragma D option quiet

BEGIN
{
	printf("%S\n", "tab\there");
	exit(0);
}

/* expect: tab\there */
