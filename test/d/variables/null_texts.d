/* NULL is another text than "", in variables of each kind, and sorts before all. */
#pragma D option quiet

BEGIN
{
	this->t = "abc"; this->t = NULL; self->t = "abc"; self->t = NULL; t = "abc"; t = NULL; a[1] = "abc"; a[1] = NULL;
	printf("%d %d %d %d\n", this->t == NULL, self->t == NULL, t == NULL, a[1] == NULL);
	this->t = strstr("abc", "x"); t = strchr("abc", 'x');
	printf("%d %d %d %d\n", this->t == NULL, t == NULL, this->t == t, this->t == "");
	this->t = ""; t = "";
	printf("%d %d %d\n", this->t == NULL, t == NULL, this->t == t);
	this->t = NULL;
	printf("%d %d %d %d\n", this->t < "", this->t <= t, this->t > t, "" != this->t);
	this->t = this->t == NULL ? "was none" : "was some";
	printf("%s\n", this->t);
	exit(0);
}

/* expect: 1 1 1 1 */
/* expect: 1 1 1 0 */
/* expect: 0 0 1 */
/* expect: 1 1 0 1 */
/* expect: was none */
