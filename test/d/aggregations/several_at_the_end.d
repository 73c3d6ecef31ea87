/* At the end all that nobody printed, in the order of the script. */
#pragma D option quiet

BEGIN
{
	@b = count(); @a = sum(7);
	exit(0);
}

/* expect: */
/* expect:                 1 */
/* expect:                 7 */
