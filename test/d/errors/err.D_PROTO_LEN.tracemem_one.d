/* tracemem without a size. */

BEGIN { tracemem(1); }
