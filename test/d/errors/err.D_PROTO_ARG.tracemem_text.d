/* A size that is no number. */

BEGIN { tracemem("abc", 3, "x"); }
