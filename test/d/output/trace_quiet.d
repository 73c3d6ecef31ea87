/* trace: with -q just the value. */
#pragma D option quiet

BEGIN
{
	trace(1); trace(-1); trace("text"); trace((unsigned char)255);
	exit(0);
}

/* expect: 1-1text255 */
