/* No bytes. */

BEGIN { tracemem("abc", 0); }
