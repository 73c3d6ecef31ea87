/* What is not there, and what is no JSON, is NULL. */
#pragma D option quiet

BEGIN
{
	this->j = "{\"a\": [1, 2], \"b\": {}}";
	printf("%d%d%d%d", json(this->j, "c") == NULL, json(this->j, "a[2]") == NULL, json(this->j, "a.b") == NULL, json(this->j, "b[0]") == NULL);
	printf("%d%d%d%d", json(this->j, "a..b") == NULL, json(this->j, "a[") == NULL, json(this->j, "a[x]") == NULL, json("{\"a\"", "a") == NULL);
	printf("%d%d%d%d\n", json("", "a") == NULL, json("{\"a\": [1,", "a") == NULL, json("{\"a\": \"x", "a") == NULL, json("]", "") == NULL);
	exit(0);
}

/* expect: 111111111111 */
