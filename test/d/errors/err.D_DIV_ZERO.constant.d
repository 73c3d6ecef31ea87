/* Division by a constant 0. */

BEGIN { x = 1 / 0; }
