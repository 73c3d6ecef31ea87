/* normalize of a number. */

BEGIN { normalize(1, 2); }
