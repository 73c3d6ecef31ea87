/* A call of a number. */

BEGIN { 1(2); }
