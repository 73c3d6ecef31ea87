/* A key that is nothing. */

BEGIN { @[(void)1] = count(); }
