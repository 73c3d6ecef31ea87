/* An aggregation in an expression. */

BEGIN { @a = count(); x = @a + 1; }
