/* A modifier that a conversion does not have. */

BEGIN { printf("%hs", "a"); }
