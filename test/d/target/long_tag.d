/* What is no iolist of at most 1024 bytes shows as NULL, and is 0 in a variable too. */
/* target: long_texts.act */
#pragma D option quiet

erlang*:::user_trace-i4s4
{
	self->tag = arg1;
	printf("%d %d %d %d\n", arg1 == NULL, self->tag == 0, arg6 == 0, arg7 == 0);
}

/* expect: 1 1 0 0 */
/* expect: 1 1 1 0 */
/* expect: 0 0 1 1 */
