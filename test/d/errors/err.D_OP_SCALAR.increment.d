/* A string has no next. */

BEGIN { x = "a"; x++; }
