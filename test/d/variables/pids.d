/* $pid is vmtrace itself, as is pid without a target. */
#pragma D option quiet

BEGIN
{
	printf("%d\n", $pid == pid && pid > 1);
	exit(0);
}

/* expect: 1 */
