/* Globals may be declared with a type. */
#pragma D option quiet

char c;
string s;
int64_t big;

BEGIN
{
	c = 300;
	s = "text";
	big = 1LL << 40;
	printf("%d %s %d\n", c, s, big);
	exit(0);
}

/* expect: 44 text 1099511627776 */
