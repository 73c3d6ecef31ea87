/* trace: integers stand in columns as wide as their types. */

BEGIN
{
	trace((char)1); trace((short)2); trace(3); trace((long long)4); trace("five");
	exit(0);
}

/* expect: CPU     ID                    FUNCTION:NAME */
/* expect:   0      1                           :BEGIN    1     2          3                   4  five */
