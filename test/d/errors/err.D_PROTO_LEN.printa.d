/* printa of nothing. */

BEGIN { printa(); }
