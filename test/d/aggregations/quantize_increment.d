/* quantize takes an increment. */
#pragma D option quiet

BEGIN
{
	@ = quantize(1, 100);
	normalize(@, 10);
	exit(0);
}

/* expect: */
/* expect: */
/* expect:            value  ------------- Distribution ------------- count */
/* expect:                0 |                                         0 */
/* expect:                1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 10 */
/* expect:                2 |                                         0 */
/* expect: */
