/* trunc() of an aggregation that there is not. */

BEGIN { trunc(@a); }
