/* A built-in is not incremented. */

BEGIN { timestamp++; }
