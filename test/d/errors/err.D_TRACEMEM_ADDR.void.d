/* tracemem() of nothing. */

BEGIN { tracemem((void)1, 8); }
