/* Below the base and at the limit and above. */
#pragma D option quiet

BEGIN { @ = lquantize(-1, 0, 10, 5); @ = lquantize(0, 0, 10, 5); @ = lquantize(9, 0, 10, 5); @ = lquantize(10, 0, 10, 5); @ = lquantize(100, 0, 10, 5); exit(0); }

/* expect: */
/* expect: */
/* expect:            value  ------------- Distribution ------------- count */
/* expect:              < 0 |@@@@@@@@                                 1 */
/* expect:                0 |@@@@@@@@                                 1 */
/* expect:                5 |@@@@@@@@                                 1 */
/* expect:            >= 10 |@@@@@@@@@@@@@@@@                         2 */
