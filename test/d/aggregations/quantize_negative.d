/* Powers of two on both sides of 0. */
#pragma D option quiet

BEGIN { @ = quantize(-5); @ = quantize(0); @ = quantize(5); @ = quantize(5); exit(0); }

/* expect: */
/* expect: */
/* expect:            value  ------------- Distribution ------------- count */
/* expect:               -8 |                                         0 */
/* expect:               -4 |@@@@@@@@@@                               1 */
/* expect:               -2 |                                         0 */
/* expect:               -1 |                                         0 */
/* expect:                0 |@@@@@@@@@@                               1 */
/* expect:                1 |                                         0 */
/* expect:                2 |                                         0 */
/* expect:                4 |@@@@@@@@@@@@@@@@@@@@                     2 */
/* expect:                8 |                                         0 */
