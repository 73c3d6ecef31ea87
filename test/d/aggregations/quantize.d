/* quantize. */
#pragma D option quiet

BEGIN
{
	@ = quantize(1); @ = quantize(2); @ = quantize(3); @ = quantize(5);
	exit(0);
}

/* expect: */
/* expect: */
/* expect:            value  ------------- Distribution ------------- count */
/* expect:                0 |                                         0 */
/* expect:                1 |@@@@@@@@@@                               1 */
/* expect:                2 |@@@@@@@@@@@@@@@@@@@@                     2 */
/* expect:                4 |@@@@@@@@@@                               1 */
/* expect:                8 |                                         0 */
/* expect: */
