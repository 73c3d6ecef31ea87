/* Keys: texts and integers, in columns; sorted by value. */
#pragma D option quiet

BEGIN
{
	@["beam", 1] = sum(2);
	@["cron", 2] = sum(1);
	@["awk", 3] = sum(2);
	exit(0);
}

/* expect: */
/* expect:   cron                                                      2                1 */
/* expect:   awk                                                       3                2 */
/* expect:   beam                                                      1                2 */
