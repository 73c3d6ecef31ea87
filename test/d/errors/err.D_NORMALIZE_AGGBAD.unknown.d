/* normalize() of an aggregation that there is not. */

BEGIN { normalize(@a, 2); }
