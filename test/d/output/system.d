/* system: with -w, the text is a command of the shell; output stays in order. */
/* flags: -w */
#pragma D option quiet

BEGIN
{
	printf("before\n"); system("echo a %d", 7); printf("after\n");
	exit(0);
}

/* expect: before */
/* expect: a 7 */
/* expect: after */
