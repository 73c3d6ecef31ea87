/* printa of something else. */

BEGIN { printa(1); }
