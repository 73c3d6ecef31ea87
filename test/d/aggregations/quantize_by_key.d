/* A plot for each key. */
#pragma D option quiet

BEGIN
{
	@["a"] = quantize(1);
	@["b"] = quantize(4);
	exit(0);
}

/* expect: */
/* expect:   a */
/* expect:            value  ------------- Distribution ------------- count */
/* expect:                0 |                                         0 */
/* expect:                1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1 */
/* expect:                2 |                                         0 */
/* expect: */
/* expect:   b */
/* expect:            value  ------------- Distribution ------------- count */
/* expect:                2 |                                         0 */
/* expect:                4 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1 */
/* expect:                8 |                                         0 */
/* expect: */
