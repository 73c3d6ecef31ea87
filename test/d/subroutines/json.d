/* Elements of a text in JSON. */
#pragma D option quiet

BEGIN
{
	this->j = "{\"a\": {\"b\": [1, {\"c\": \"x\\\"y\"}, true]}, \"n\": -1.5e3, \"z\":null, \"o\":{ \"k\": [ 1,2 ] }}";
	printf("%s %s %s\n", json(this->j, "a.b[0]"), json(this->j, "a.b[1].c"), json(this->j, "a.b[2]"));
	printf("%s %s %s\n", json(this->j, "n"), json(this->j, "z"), json(this->j, "o"));
	printf("%s %s\n", json("[4, [5]]", "[1][0]"), json("[4, [5]]", "[0]"));
	exit(0);
}

/* expect: 1 x\"y true */
/* expect: -1.5e3 null { "k": [ 1,2 ] } */
/* expect: 5 4 */
