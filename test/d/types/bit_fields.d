/* Bit-fields. */
#pragma D option quiet

struct bits { unsigned int a:3; unsigned int b:5; };
struct bits x;

BEGIN
{
	x.a = 5;
	x.b = 19;
	printf("%d %d\n", x.a, x.b);
	exit(0);
}

/* expect: 5 19 */
