/* A key of an aggregation of another type. */

BEGIN { @a[1] = count(); @a["x"] = count(); }
