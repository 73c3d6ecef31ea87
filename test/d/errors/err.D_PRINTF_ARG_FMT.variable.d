/* A format that is no constant. */

BEGIN { s = "%d"; printf(s, 1); }
