/* clear of a number. */

BEGIN { clear(1); }
