/* Keys of an aggregation in brackets of their own. */

BEGIN { @a[1][2] = count(); }
