/* No text has more characters than strsize, wherever it stands or comes from. */
/* flags: -x strsize=7 */
#pragma D option quiet

struct holder { int n; string text; };
struct holder held;
string by_number[int];
self string thread_local_text;

BEGIN
{
	global = this->clause_local = self->thread_local_text = held.text = by_number[1] = "abcdefghijkl";
	printf("%s %s %s\n", global, this->clause_local, self->thread_local_text);
	printf("%s %s %d\n", held.text, by_number[1], strlen(by_number[1]));
	printf("%s %s %s\n", "abcdefghijkl", strjoin("abcdef", "ghijkl"), 1 ? "abcdefghijkl" : "");
	printf("%d %d\n", strlen("abcdefghijkl"), sizeof (string));
	trace("abcdefghijkl"); print(global);
	trace("\n");
	counts["abcdefghijkl"] = 5;
	printf("%d %d\n", counts["abcdefg"], counts["abcdefgh"] == counts["abcdefg"]);
	@["abcdefghijkl"] = count(); @[global] = count();
	exit(0);
}

/* expect: abcdefg abcdefg abcdefg */
/* expect: abcdefg abcdefg 7 */
/* expect: abcdefg abcdefg abcdefg */
/* expect: 7 7 */
/* expect: abcdefgstring "abcdefg" */
/* expect: 5 1 */
/* expect: */
/* expect:   abcdefg                                                           2 */
