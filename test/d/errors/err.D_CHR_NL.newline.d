/* A character without its end. */

BEGIN { x = 'a
; }
