/* A text without its end. */

BEGIN { x = "abc
; }
