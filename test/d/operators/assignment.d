/* Assignments with an operator. */
#pragma D option quiet

BEGIN
{
	x = 10; x += 5; x -= 3; x *= 4; x /= 2; x %= 13;
	y = 6; y |= 1; y &= 5; y ^= 15; y <<= 3; y >>= 1;
	printf("%d %d\n", x, y);
	exit(0);
}

/* expect: 11 40 */
