/* A variable may be used before the clause that assigns it: it is 0, empty or NULL, of the type it has there. */
#pragma D option quiet

struct pair { int a; string b; };

BEGIN /n == 0/ { printf("%d %d %d\n", n, text == "", self->number); }
BEGIN { printf("%d %d\n", numbers[3], sizeof (short_one)); }
BEGIN /self->text == NULL && later == 0/ { printf("%d %s\n", this->pointer == 0, texts["x"] == NULL ? "none" : "some"); }
BEGIN { printf("%d\n", ++counted); }
BEGIN
{
	n = 7; text = "later"; self->number = 5; numbers[3] = 9; short_one = (short)2; self->text = "t";
	later = first; first = 3; this->pointer = &n; texts["x"] = "y"; counted = 1;
	printf("%d %s %d %d\n", n, text, self->number, numbers[3]);
	exit(0);
}

/* expect: 0 1 0 */
/* expect: 0 2 */
/* expect: 1 none */
/* expect: 1 */
/* expect: 7 later 5 9 */
