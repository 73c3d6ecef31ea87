/* The subroutine strtok and its like. */
#pragma D option quiet

BEGIN
{
	this->a = strtok("one, two", ", ");
	this->b = strtok(NULL, ", ");
	printf("%s %s %d\n", this->a, this->b, strtok(NULL, ", ") == NULL);
	exit(0);
}

/* expect: one two 1 */
