/* A pragma that D does not have. */

#pragma D nosuch
BEGIN { exit(0); }
