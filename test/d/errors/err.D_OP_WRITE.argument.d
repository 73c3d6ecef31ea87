/* An argument is not assigned. */

BEGIN { arg0 = 1; }
