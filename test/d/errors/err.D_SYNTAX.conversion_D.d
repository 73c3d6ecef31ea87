/* %D is no conversion of D. */

BEGIN { printf("%D", 1); }
