/* A built-in variable is no array. */

BEGIN { timestamp[1] = 2; }
