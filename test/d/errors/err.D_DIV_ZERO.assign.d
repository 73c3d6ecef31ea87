/* Divided and assigned. */

BEGIN { x = 1; x /= 0; }
