/* An index of what is no array. */

BEGIN { x = 1; trace(x[0]); }
