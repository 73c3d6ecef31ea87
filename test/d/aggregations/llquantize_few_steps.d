/* llquantize with fewer steps than its factor, and values on both sides of 0. */
#pragma D option quiet

BEGIN
{
	@few = llquantize(-20, 4, 0, 1, 2); @few = llquantize(-1, 4, 0, 1, 2); @few = llquantize(0, 4, 0, 1, 2);
	@few = llquantize(1, 4, 0, 1, 2); @few = llquantize(3, 4, 0, 1, 2); @few = llquantize(9, 4, 0, 1, 2);
	@low = llquantize(-30, 10, 1, 1, 1); @low = llquantize(5, 10, 1, 1, 1); @low = llquantize(50, 10, 1, 1, 1);
	@above = llquantize(50, 10, 1, 1, 1);
	exit(0);
}

/* expect: */
/* expect: */
/* expect:            value  ------------- Distribution ------------- count */
/* expect:           <= -16 |@@@@@@@                                  1 */
/* expect:               -8 |                                         0 */
/* expect:               -4 |                                         0 */
/* expect:               -2 |                                         0 */
/* expect:               -1 |@@@@@@@                                  1 */
/* expect:                0 |@@@@@@@                                  1 */
/* expect:                1 |@@@@@@@                                  1 */
/* expect:                2 |@@@@@@@                                  1 */
/* expect:                4 |                                         0 */
/* expect:                8 |@@@@@@@                                  1 */
/* expect:            >= 16 |                                         0 */
/* expect: */
/* expect: */
/* expect:            value  ------------- Distribution ------------- count */
/* expect:          <= -100 |                                         0 */
/* expect:              -10 |@@@@@@@@@@@@@                            1 */
/* expect:       abs() < 10 |@@@@@@@@@@@@@                            1 */
/* expect:               10 |@@@@@@@@@@@@@                            1 */
/* expect:           >= 100 |                                         0 */
/* expect: */
/* expect: */
/* expect:            value  ------------- Distribution ------------- count */
/* expect:             < 10 |                                         0 */
/* expect:               10 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1 */
/* expect:           >= 100 |                                         0 */
