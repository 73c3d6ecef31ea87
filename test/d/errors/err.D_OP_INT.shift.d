/* A text is not shifted. */

BEGIN { x = "a" << 1; }
