/* An aggregation takes an aggregating function. */

BEGIN { @a = 1; }
