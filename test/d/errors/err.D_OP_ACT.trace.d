/* An aggregation as a value. */

BEGIN { @a = count(); x = @a; }
