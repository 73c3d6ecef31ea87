/* A text that nothing was stored in is empty, and no NULL, when it is a global variable or this->; of self-> and arrays there is none. */
#pragma D option quiet

string global;
this string clause_local;
self string thread_local_text;
string of[int];

BEGIN
{
	printf("[%s] %d %d\n", global, global == "", global == NULL);
	printf("[%s] %d\n", this->clause_local, this->clause_local == "");
	printf("%d %d\n", self->thread_local_text == NULL, of[5] == NULL);
	global = "x"; global = NULL;
	printf("%d\n", global == NULL);
	exit(0);
}

/* expect: [] 1 0 */
/* expect: [] 1 */
/* expect: 1 1 */
/* expect: 1 */
