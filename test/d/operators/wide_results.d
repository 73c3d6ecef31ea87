/* What is computed is 64 bits wide; it is cut where it is stored, cast or recorded. */
#pragma D option quiet

unsigned char u;
signed char s;
short h;

BEGIN
{
	u = 254; s = -3; h = 300;
	printf("%d %d %d\n", u + u, u + s, s + s);
	printf("%d %d\n", u + u > 500, u + h);
	i = 25920; i = i - (i + i * 3 + i) * i / i * i;
	printf("%d\n", i);
	printf("%d %d\n", 1 << 40 > 0, (long long)1 << 40 > 0);
	@ = sum((1 << 63) - 1); printa("%@d\n", @);
	u = 255; u += 3; printf("%d %d\n", u, (unsigned char)(u + 254) == 0);
	exit(0);
}

/* expect: 252 251 -6 */
/* expect: 1 554 */
/* expect: 935761216 */
/* expect: 1 1 */
/* expect: 9223372036854775807 */
/* expect: 2 1 */
