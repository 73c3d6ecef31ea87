/* normalize of a plot divides the counts. */
#pragma D option quiet

BEGIN
{
	@ = lquantize(5, 0, 10, 10);
	@ = lquantize(5, 0, 10, 10, 9);
	normalize(@, 5);
	printa(@);
	exit(0);
}

/* expect: */
/* expect: */
/* expect:            value  ------------- Distribution ------------- count */
/* expect:              < 0 |                                         0 */
/* expect:                0 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 2 */
/* expect:            >= 10 |                                         0 */
/* expect: */
