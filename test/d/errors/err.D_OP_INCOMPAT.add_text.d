/* A text added to a number. */

BEGIN { n = 1; n += "text"; }
