/* strsize cuts texts, their end not counted. */
/* flags: -x strsize=8 */
#pragma D option quiet

BEGIN
{
	s = "abcdefghijkl";
	printf("%s\n", s);
	exit(0);
}

/* expect: abcdefgh */
