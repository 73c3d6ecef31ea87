/* The address of an aggregation. */

BEGIN { @a = count(); x = &@a; }
