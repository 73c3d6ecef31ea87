/* tracemem of a size that is no constant. */

BEGIN { x = 4; tracemem("abcd", x); }
