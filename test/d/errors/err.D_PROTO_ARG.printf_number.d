/* A number for a format. */

BEGIN { printf(1); }
