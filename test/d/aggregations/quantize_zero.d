/* Only 0. */
#pragma D option quiet

BEGIN { @ = quantize(0); exit(0); }

/* expect: */
/* expect: */
/* expect:            value  ------------- Distribution ------------- count */
/* expect:               -1 |                                         0 */
/* expect:                0 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1 */
/* expect:                1 |                                         0 */
