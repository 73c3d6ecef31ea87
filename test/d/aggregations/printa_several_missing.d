/* A key that one of them does not have counts as 0. */
#pragma D option quiet

BEGIN { @a["x"] = count(); @b["y"] = sum(5); printa("%s %@d %@d\n", @a, @b); exit(0); }

/* expect: y 0 5 */
/* expect: x 1 0 */
