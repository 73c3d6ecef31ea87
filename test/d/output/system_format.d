/* system: its format has conversions; the shell has its metacharacters. */
/* flags: -w */
#pragma D option quiet

BEGIN
{
	system("echo %s | tr a-z A-Z; exit 3", "shout");
	printf("on\n");
	exit(0);
}

/* expect: SHOUT */
/* expect: on */
