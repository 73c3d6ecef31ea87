/* llquantize. */
#pragma D option quiet

BEGIN
{
	@ = llquantize(2, 10, 0, 1, 10); @ = llquantize(35, 10, 0, 1, 10);
	exit(0);
}

/* expect: */
/* expect: */
/* expect:            value  ------------- Distribution ------------- count */
/* expect:                1 |                                         0 */
/* expect:                2 |@@@@@@@@@@@@@@@@@@@@                     1 */
/* expect:                3 |                                         0 */
/* expect:                4 |                                         0 */
/* expect:                5 |                                         0 */
/* expect:                6 |                                         0 */
/* expect:                7 |                                         0 */
/* expect:                8 |                                         0 */
/* expect:                9 |                                         0 */
/* expect:               10 |                                         0 */
/* expect:               20 |                                         0 */
/* expect:               30 |@@@@@@@@@@@@@@@@@@@@                     1 */
/* expect:               40 |                                         0 */
/* expect: */
