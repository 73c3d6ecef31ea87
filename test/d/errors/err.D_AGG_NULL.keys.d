/* An element of an aggregation alone is no statement. */

BEGIN { @a[1]; }
