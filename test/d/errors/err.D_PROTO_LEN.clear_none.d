/* clear() of nothing. */

BEGIN { clear(); }
