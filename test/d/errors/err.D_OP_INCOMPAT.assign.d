/* A text assigned to a number. */

BEGIN { x = 1; x = "text"; }
