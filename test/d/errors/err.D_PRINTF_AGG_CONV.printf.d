/* %@ is for printa. */

BEGIN { printf("%@d\n", 1); }
