/* clear() of an aggregation that there is not. */

BEGIN { clear(@a); }
