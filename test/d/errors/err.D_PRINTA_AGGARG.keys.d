/* An aggregation with its keys. */

BEGIN { @a[1] = count(); printa(@a[1]); }
