/* Aggregations whose keys differ in type. */

BEGIN { @a[1] = count(); @b["x"] = count(); printa("%d %@d %@d\n", @a, @b); }
