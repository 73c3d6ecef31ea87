/* The subroutine basename and its like. */
#pragma D option quiet

BEGIN
{
	printf("%s %s|%s %s\n", basename("/a/b"), dirname("/a/b"), basename("x"), dirname("x"));
	exit(0);
}

/* expect: b /a|x . */
