/* Texts as values, and gone when 0 is assigned. */
#pragma D option quiet

BEGIN { a["k"] = "value"; printf("%s|", a["k"]); a["k"] = 0; printf("%s|%d\n", a["k"], a["k"] == NULL); exit(0); }

/* expect: value|(null)|1 */
