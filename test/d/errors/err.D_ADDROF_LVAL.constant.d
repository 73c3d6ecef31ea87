/* The address of a number. */

BEGIN { x = &3; }
