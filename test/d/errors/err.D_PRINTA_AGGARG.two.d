/* Aggregations without a format. */

BEGIN { @a = count(); @b = count(); printa(@a, @b); }
