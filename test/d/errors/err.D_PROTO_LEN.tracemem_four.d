/* Four arguments. */

BEGIN { tracemem("abc", 1, 2, 3); }
