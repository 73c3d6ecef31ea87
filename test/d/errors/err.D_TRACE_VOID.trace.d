/* trace of nothing. */

BEGIN { trace(exit(0)); }
