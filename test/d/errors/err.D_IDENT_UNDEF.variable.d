/* A name that nobody knows. */

BEGIN { trace(nosuch); }
