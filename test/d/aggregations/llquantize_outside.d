/* Nearer to 0 than the magnitudes, and above them. */
#pragma D option quiet

BEGIN { @ = llquantize(0, 10, 0, 1, 10); @ = llquantize(5, 10, 0, 1, 10); @ = llquantize(500, 10, 0, 1, 10); exit(0); }

/* expect: */
/* expect: */
/* expect:            value  ------------- Distribution ------------- count */
/* expect:               -1 |                                         0 */
/* expect:                0 |@@@@@@@@@@@@@                            1 */
/* expect:                1 |                                         0 */
/* expect:                2 |                                         0 */
/* expect:                3 |                                         0 */
/* expect:                4 |                                         0 */
/* expect:                5 |@@@@@@@@@@@@@                            1 */
/* expect:                6 |                                         0 */
/* expect:                7 |                                         0 */
/* expect:                8 |                                         0 */
/* expect:                9 |                                         0 */
/* expect:               10 |                                         0 */
/* expect:               20 |                                         0 */
/* expect:               30 |                                         0 */
/* expect:               40 |                                         0 */
/* expect:               50 |                                         0 */
/* expect:               60 |                                         0 */
/* expect:               70 |                                         0 */
/* expect:               80 |                                         0 */
/* expect:               90 |                                         0 */
/* expect:           >= 100 |@@@@@@@@@@@@@                            1 */
