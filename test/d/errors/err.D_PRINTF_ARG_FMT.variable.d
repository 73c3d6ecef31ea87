/* A format that is no constant. */

BEGIN { printf(1); }
