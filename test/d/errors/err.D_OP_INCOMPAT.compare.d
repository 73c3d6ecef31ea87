/* A text and a number. */

BEGIN { x = 1; y = ("a" == x); }
