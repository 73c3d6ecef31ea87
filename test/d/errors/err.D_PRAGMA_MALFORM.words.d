/* A pragma without a value. */

#pragma D option
BEGIN { exit(0); }
