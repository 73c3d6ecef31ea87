/* An aggregation that nothing is taken into. */

BEGIN { @a; }
