/* An aggregation for a number. */

BEGIN { @a = count(); trunc(@a, @a); }
