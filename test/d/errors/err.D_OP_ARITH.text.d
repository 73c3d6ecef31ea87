/* Arithmetic on a text. */

BEGIN { x = "a" * 2; }
