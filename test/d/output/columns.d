/* Without -q: the heading, the columns, what matched. */

BEGIN
{
	trace("hello, world");
	exit(0);
}

/* expect: CPU     ID                    FUNCTION:NAME */
/* expect:   0      1                           :BEGIN   hello, world */
/* expect-err: vmtrace: script ' */
/* expect-err: matched 1 probe */
