/* The complement of a text. */

BEGIN { x = ~"a"; }
