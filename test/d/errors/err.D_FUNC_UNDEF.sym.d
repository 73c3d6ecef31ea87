/* There are no symbols of a kernel. */
/* expect-err: usym() and ufunc() */

BEGIN { sym(1); }
