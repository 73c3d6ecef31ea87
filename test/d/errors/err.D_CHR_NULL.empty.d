/* An empty character. */

BEGIN { x = ''; }
