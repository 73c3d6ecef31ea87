/* The subroutine strchr and its like. */
#pragma D option quiet

BEGIN
{
	printf("%s %s\n", strchr("a/b/c", '/'), strrchr("a/b/c", '/'));
	exit(0);
}

/* expect: /b/c /c */
