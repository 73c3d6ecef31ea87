/* & of what has no address. */

BEGIN { x = 1; trace(&x); }
