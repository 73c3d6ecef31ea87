/* An octal number with an 8. */

BEGIN { x = 08; }
