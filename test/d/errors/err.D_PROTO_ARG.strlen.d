/* An argument of another type. */

BEGIN { x = strlen(1); }
