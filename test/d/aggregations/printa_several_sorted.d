/* Several aggregations in a printa: one line a key, in the order of the first. */
#pragma D option quiet

BEGIN { @a["x"] = sum(3); @a["y"] = sum(1); @b["x"] = sum(10); @b["y"] = sum(20); printa("%s %@d %@d\n", @a, @b); exit(0); }

/* expect: y 1 20 */
/* expect: x 3 10 */
