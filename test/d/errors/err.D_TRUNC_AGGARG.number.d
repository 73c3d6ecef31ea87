/* trunc of a number. */

BEGIN { trunc(1); }
