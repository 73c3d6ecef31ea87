/* lquantize. */
#pragma D option quiet

BEGIN
{
	@ = lquantize(-5, 0, 30, 10); @ = lquantize(0, 0, 30, 10); @ = lquantize(15, 0, 30, 10); @ = lquantize(100, 0, 30, 10);
	exit(0);
}

/* expect: */
/* expect: */
/* expect:            value  ------------- Distribution ------------- count */
/* expect:              < 0 |@@@@@@@@@@                               1 */
/* expect:                0 |@@@@@@@@@@                               1 */
/* expect:               10 |@@@@@@@@@@                               1 */
/* expect:               20 |                                         0 */
/* expect:            >= 30 |@@@@@@@@@@                               1 */
/* expect: */
