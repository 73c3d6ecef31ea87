/* The step is 1 when it is not given. */
#pragma D option quiet

BEGIN { @ = lquantize(1, 0, 3); @ = lquantize(2, 0, 3); exit(0); }

/* expect: */
/* expect: */
/* expect:            value  ------------- Distribution ------------- count */
/* expect:                0 |                                         0 */
/* expect:                1 |@@@@@@@@@@@@@@@@@@@@                     1 */
/* expect:                2 |@@@@@@@@@@@@@@@@@@@@                     1 */
/* expect:             >= 3 |                                         0 */
