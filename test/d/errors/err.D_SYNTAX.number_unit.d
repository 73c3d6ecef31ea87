/* A unit behind a number. */

BEGIN { trace(10ms); }
