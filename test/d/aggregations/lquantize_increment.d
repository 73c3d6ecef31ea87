/* An increment. */
#pragma D option quiet

BEGIN { @ = lquantize(1, 0, 4, 2, 5); @ = lquantize(3, 0, 4, 2, -1); exit(0); }

/* expect: */
/* expect: */
/* expect:            value  ------------- Distribution ------------- count */
/* expect:              < 0                     |                     0 */
/* expect:                0                     |@@@@@@@@@@@@@@@@@    5 */
/* expect:                2                  @@@|                     -1 */
/* expect:             >= 4                     |                     0 */
