/* A character that is too long. */

BEGIN { x = 'abcdefghi'; }
