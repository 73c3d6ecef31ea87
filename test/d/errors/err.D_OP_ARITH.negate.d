/* Minus a text. */

BEGIN { x = -"a"; }
