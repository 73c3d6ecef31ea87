/* printa() of an aggregation that there is not. */

BEGIN { printa(@a); }
