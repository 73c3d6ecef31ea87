/* tracemem: 16 bytes a line, in hex and as characters. */
#pragma D option quiet

BEGIN
{
	this->s = "0123456789abcdefXY";
	tracemem(this->s, 18);
	exit(0);
}

/* expect: */
/* expect:              0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef */
/* expect:          0: 30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66  0123456789abcdef */
/* expect:         10: 58 59                                            XY */
