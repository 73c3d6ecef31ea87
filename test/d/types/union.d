/* A union. */
#pragma D option quiet

union u { int i; char c; };
union u x;

BEGIN
{
	x.i = 0x4142;
	printf("%c\n", x.c);
	exit(0);
}

/* expect: B */
