/* Aggregations whose keys differ in number. */

BEGIN { @a[1] = count(); @b[1, 2] = count(); printa("%d %@d %@d\n", @a, @b); }
