/* tracemem: a third argument says how many bytes count. */
#pragma D option quiet

BEGIN
{
	x = 4;
	this->s = "abcdefgh";
	tracemem(this->s, 8, x);
	exit(0);
}

/* expect: */
/* expect:              0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef */
/* expect:          0: 61 62 63 64                                      abcd */
